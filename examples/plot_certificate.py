"""
When can the solver stop?
=========================

After each pass over the kernel matrix the solver knows residuals; where you ask for them, also an estimate of the error
of the captured variance, and a bound on it that holds for certain. What you ask for decides when it stops.
"""

# sphinx_gallery_thumbnail_number = 2
from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.kernels import RBF, Laplacian
from kernelpca.plotting import ConvergenceDisplay
from kernelpca.solvers import BlockKrylov

X = load_digits().data / 16

# %%
# Residuals, for scores that are used one by one: the default.

residual = KernelPCA(20, kernel=RBF(0.05), solver=BlockKrylov(), tol=1e-8)
by_residual = ConvergenceDisplay.from_estimator(residual, X, width=5)

# %%
# The captured variance, which is right long before single scores are: its error is of second order. Here the bound
# must be below one in a million.

certified = KernelPCA(20, kernel=RBF(0.05), solver=BlockKrylov(criterion="certified"), tol=1e-6)
by_bound = ConvergenceDisplay.from_estimator(certified, X, width=5)

# %%
# A kernel whose spectrum hardly decays. The estimate falls; a bound, which must hold for every matrix, has nothing to
# hold on to, and none is drawn. The certificate says so, and names components that are right as a group only.

slow = KernelPCA(20, kernel=Laplacian(1.0), solver=BlockKrylov(criterion="variance"), tol=1e-4)
by_estimate = ConvergenceDisplay.from_estimator(slow, X, width=5)

# %%
# In words:

for model in (residual, certified, slow):
    print(model.fit(X).certificate_, "\n")
