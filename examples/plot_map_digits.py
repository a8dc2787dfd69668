"""
Where are my samples, and what lies between them?
=================================================

Scores on two components are a map. The pre-image of a place on the map is what a digit would look like there.
"""

# sphinx_gallery_thumbnail_number = 2
from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.kernels import RBF
from kernelpca.plotting import ScoresDisplay

X, y = load_digits(return_X_y=True)
X = X / 16
few = y < 5
model = KernelPCA(10, kernel=RBF(0.03), preimage="fixed_point").fit(X[few])

# %%
# Groups have colors and marks. The axes say how much of the variance each component holds.

scores = ScoresDisplay.from_estimator(model, X[few], labels=y[few], width=5)

# %%
# The same map with pre-images on a grid, wherever there are digits near: threes pass into twos and twos into ones;
# zeros and fours lie apart.

thumbnails = ScoresDisplay.from_estimator(model, X[few], labels=y[few], image_shape=(8, 8), grid=9, width=5)

# %%
# Three components, in three dimensions.

solid = ScoresDisplay.from_estimator(model, X[few], labels=y[few], components=(0, 1, 2), width=5)
