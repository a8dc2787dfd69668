"""
Which gamma, if there are no labels?
====================================

Hide what you know: add noise to rows held out, and see which width and which number of components remove most of it.
One fit for each width and fold tells the error of every number of components.
"""

from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.plotting import ErrorCurveDisplay, KernelMatrixDisplay
from kernelpca.selection import Denoising, KernelPCACV, gamma_median, gamma_scale

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]
print(f"rules: scale {gamma_scale(X):.3f}, median {gamma_median(X):.3f}")

search = KernelPCACV(
    KernelPCA(preimage="fixed_point"),
    gammas=5,
    n_components=[2, 4, 8, 16, 32, 64, 128, 200],
    criterion=Denoising(noise=0.3),
    cv=3,
).fit(X)
print("best:", search.best_params_)

# %%
# Wide kernels (small gamma) need few components and lose detail; narrow ones can use many. Too narrow a kernel knows
# only the training rows, and nothing helps. The best here takes nearly as many components as a fold has rows: with so
# few digits it is hard to do better than to remember them all.

curves = ErrorCurveDisplay.from_search(search, width=6)

# %%
# The kernel matrix at the best width: digits of one kind are alike, and blocks are seen without any label being used
# to choose it.

matrix = KernelMatrixDisplay.from_estimator(search.best_estimator_, X, labels=y, width=4.5)
