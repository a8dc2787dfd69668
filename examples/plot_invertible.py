"""
Can the way back be a formula?
==============================

Points on a curved sheet, with noise. `InvertibleKernelPCA` maps them by random sines, and takes every step back:
components, sines, linear map. Nothing is learned for that, and no optimization runs.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_s_curve

from kernelpca import PCA, InvertibleKernelPCA, KernelPCA
from kernelpca.kernels import RBF

truth, position = make_s_curve(3000, random_state=0)
noisy = truth + np.random.default_rng(0).normal(0, 0.25, truth.shape)
train, new = slice(0, 1500), slice(1500, 3000)

models = {
    "PCA, 2 components": PCA(2),
    "invertible kernel PCA": InvertibleKernelPCA(12, gamma=0.5, n_features=500),
    "kernel PCA, fixed point": KernelPCA(12, kernel=RBF(0.5), preimage="fixed_point"),
}
answers = {"noisy": noisy[new]}
for name, model in models.items():
    answers[name] = (
        model.fit(noisy[train]).denoise(noisy[new])
        if hasattr(model, "denoise")
        else (model.inverse_transform(model.fit(noisy[train]).transform(noisy[new])))
    )
for name, rows in answers.items():
    print(f"{name:24} mean squared error {np.mean((rows - truth[new]) ** 2):.4f}")

# %%
# The sheet seen from its edge, colored by the place along it. PCA keeps the plane of the picture, noise and all, and
# loses the third direction; both others follow the curve.

figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained", sharex=True, sharey=True)
for axis, (name, rows) in zip(axes, answers.items(), strict=True):
    axis.scatter(rows[:, 0], rows[:, 2], c=position[new], s=3, cmap="viridis", rasterized=True)
    axis.set_title(name, fontsize=9)
    axis.set_xlabel("x")
    axis.set_aspect("equal")
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("z")
