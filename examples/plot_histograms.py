"""
My samples are histograms: does the kernel know?
================================================

Tiles of two photographs become histograms of their colors. Kernels of histograms compare shares of bins and not the
length of a difference.
"""

import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from kernelpca import KernelPCA
from kernelpca.kernels import RBF, ExponentialChiSquare, HistogramIntersection, JensenShannon, Linear
from kernelpca.plotting import KernelMatrixDisplay, ScoresDisplay


def tiles(name: str, size: int = 32) -> np.ndarray:
    """(n, 24): eight bins for each of three colors, for every tile of the photograph; each row sums to one."""
    photo = load_sample_image(name)
    found = []
    for top in range(0, photo.shape[0] - size + 1, size):
        for left in range(0, photo.shape[1] - size + 1, size):
            tile = photo[top : top + size, left : left + size].reshape(-1, 3)
            found.append(np.concatenate([np.histogram(tile[:, c], 8, (0, 256))[0] for c in range(3)]))
    return np.array(found) / (3 * size * size)


temple, flower = tiles("china.jpg"), tiles("flower.jpg")
X, y = np.vstack([temple, flower]), np.repeat(["temple", "flower"], [len(temple), len(flower)])
print(X.shape)

# %%
# From which photograph is a tile? Nearest neighbors on two components of each kernel, cross-validated.

kernels = {
    "linear": Linear(),
    "Gaussian": RBF("median"),
    "histogram intersection": HistogramIntersection(),
    "chi-square": ExponentialChiSquare("median"),
    "Jensen-Shannon": JensenShannon(),
}
for name, kernel in kernels.items():
    pipeline = make_pipeline(KernelPCA(2, kernel=kernel), KNeighborsClassifier(9))
    print(f"{name:23} {cross_val_score(pipeline, X, y, cv=5).mean():.3f}")

# %%
# The map of the chi-square kernel, and its matrix.

model = KernelPCA(2, kernel=ExponentialChiSquare("median")).fit(X)
scores = ScoresDisplay.from_estimator(model, X, labels=y, width=5)
matrix = KernelMatrixDisplay.from_estimator(model, X, labels=y, width=4.5)
