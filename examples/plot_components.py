"""
How many components are more than chance?
=========================================

Permute every column of a table by itself, and what columns have in common is gone. Components whose eigenvalue exceeds
those of such data hold something real.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.plotting import ErrorCurveDisplay, ParallelAnalysisDisplay, SpectrumDisplay
from kernelpca.selection import Denoising

X = StandardScaler().fit_transform(load_breast_cancer().data)

# %%
# Linear components of thirty measurements of cells, and how many are above chance.

linear = ParallelAnalysisDisplay.from_estimator(PCA(12), X, n_permutations=20, width=5)
print(linear.analysis.n_components, "linear components")

# %%
# With a Gaussian kernel there are more: functions of the columns that vary more than they would by chance.

curved = ParallelAnalysisDisplay.from_estimator(KernelPCA(12, kernel=RBF(0.01)), X, n_permutations=20, width=5)
print(curved.analysis.n_components, "components with a Gaussian kernel")

# %%
# Another question has another answer: how many to keep, to remove noise from new rows?

model = KernelPCA(64, kernel=RBF(0.003), preimage="fixed_point")
noise = ErrorCurveDisplay.from_estimator(model, X, criterion=Denoising(noise=0.5), cv=3, width=5)
print(noise.curve)

# %%
# And how many hold 90% of the variance?

spectrum = SpectrumDisplay.from_estimator(KernelPCA(64, kernel=RBF(0.003)).fit(X), n_components=0.9, width=5)
