"""
What is component 3?
====================

Go along one component, from two standard deviations below the mean to two above, and look at the pre-image of every
stop. The bar below each says how far it can be trusted.
"""

from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from kernelpca import KernelPCA
from kernelpca.kernels import RBF
from kernelpca.plotting import TraversalDisplay

X, y = load_digits(return_X_y=True)
X = X / 16
model = KernelPCA(10, kernel=RBF(0.02), preimage="fixed_point").fit(X)

# %%
# From the mean of all digits. Pre-images of a wide kernel's components are blends at first, and digits at the ends.

along = TraversalDisplay.from_estimator(model, components=range(5), image_shape=(8, 8), width=5)

# %%
# From one digit: its other scores stay as they are.

around = TraversalDisplay.from_estimator(model, X[12], components=range(5), image_shape=(8, 8), width=5)

# %%
# For rows of a table it shows the columns that change most along each component: here two components of wines.

wine = load_wine()
table = KernelPCA(5, kernel=RBF(0.02), preimage="fixed_point").fit(StandardScaler().fit_transform(wine.data))
bars = TraversalDisplay.from_estimator(
    table, components=(0, 1), steps=7, feature_names=wine.feature_names, y_name="standard deviations", width=7
)
