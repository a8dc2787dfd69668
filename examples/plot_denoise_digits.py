"""
How do I remove noise from images?
==================================

Fit on clean digits, project noisy ones on the components and come back: what the components do not hold stays behind.
Linear PCA does the same on a flat subspace; kernel PCA's is curved, and follows the digits more closely.
"""

import numpy as np
from sklearn.datasets import load_digits

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.plotting import PreimageDisplay
from kernelpca.preimage import FixedPoint

digits = load_digits().data / 16
train, truth = digits[:1200], digits[1200:]
noisy = truth + np.random.default_rng(0).normal(0, 0.3, truth.shape)

# %%
# Each method has its own best number of components: few for PCA, which must leave out most directions to lose noise,
# many for kernel PCA with a narrow kernel.

models = {
    "PCA": PCA(16).fit(train),
    "kernel PCA": KernelPCA(60, kernel=RBF(0.05), preimage=FixedPoint(bounds=(0, 1))).fit(train),
}
picture = PreimageDisplay.from_estimator(models, noisy, truth=truth, image_shape=(8, 8), samples=10, width=6)
for name, error in picture.errors.items():
    print(f"{name:11} mean squared error of a pixel {error:.4f}")

# %%
# How sure is the way back? The distance in feature space and the reliability are known for every digit.

found = models["kernel PCA"].invert(models["kernel PCA"].transform(noisy), reference=noisy)
print(found)
