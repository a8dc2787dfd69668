"""
Which rows does the model rest on?
==================================

Every direction of kernel PCA is a combination of all training rows. With the epsilon-insensitive objective rows with
small scores do not count: the rest is all that the model keeps.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from kernelpca import KernelPCA, SparseKernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import RBF

X = load_digits().data[:1000] / 16
new = load_digits().data[1000:] / 16
kernel = RBF(0.02)
full = KernelPCA(5, kernel=kernel).fit(X)
least = full.residuals(new).mean()

# %%
# How much is lost on new digits, by the number of rows that are kept? Landmarks, which are chosen to span all rows
# and not to be the ones that components rest on, are shown for comparison.

parts = [0.2, 0.5, 0.7, 0.8, 0.9]
sparse = [SparseKernelPCA(5, kernel=kernel, sparsity=part).fit(X) for part in parts]
kept = [len(model.support_) for model in sparse]
lost = [model.residuals(new).mean() / least - 1 for model in sparse]
landmarks = [
    KernelPCA(5, kernel=kernel, approximation=Nystrom(m)).fit(X).residuals(new).mean() / least - 1 for m in kept
]

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(kept, 100 * np.array(lost), "o-", color="#0072b2", label="sparse kernel PCA")
axis.plot(kept, 100 * np.array(landmarks), "s--", color="#d55e00", label="landmarks (Nyström)")
axis.set_xlabel("rows that the model keeps, of 1000")
axis.set_ylabel("more left of new digits (%)")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# The digits with the largest coefficients are the ones that the components rest on.

model = sparse[-1]
weight = np.linalg.norm(model.dual_coef_, axis=1)
strongest = model.support_[weight.argsort()[::-1][:16]]
figure, axes = plt.subplots(2, 8, figsize=(6, 1.7), layout="constrained")
for axis, row in zip(axes.flat, strongest, strict=True):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
print(model.certificate_)
