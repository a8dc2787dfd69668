"""
My data has outliers: what do they do to the components?
========================================================

In a table of wines some rows get wrong entries. With a linear kernel they turn the directions of ordinary kernel PCA
toward themselves; Huber's objective lets them pull with a limited force.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kernelpca import KernelPCA, RobustKernelPCA
from kernelpca.plotting import ResidualsDisplay, ScoresDisplay

rng = np.random.default_rng(0)
clean, kind = StandardScaler().fit_transform(load_wine().data), load_wine().target
bad = rng.choice(len(clean), 14, replace=False)
good = np.setdiff1d(np.arange(len(clean)), bad)
X = clean.copy()
X[bad] += 15 * rng.choice([-1, 0, 0, 0, 1], (len(bad), X.shape[1]))

plain = KernelPCA(2, kernel="linear").fit(X)
robust = RobustKernelPCA(2, kernel="linear", kappa="0.05max").fit(X)
best = KernelPCA(2, kernel="linear").fit(clean[good])
for name, model in {"ordinary": plain, "robust": robust, "without outliers": best}.items():
    print(f"{name:17} leaves {model.residuals(clean[good]).mean():.2f} of a good row")

# %%
# The good wines on the components of both models. Ordinary components were spent on the outliers, and the three kinds
# lie on each other; the robust ones tell them apart.

ordinary = ScoresDisplay.from_estimator(plain, clean[good], labels=kind[good], width=4)
limited = ScoresDisplay.from_estimator(robust, clean[good], labels=kind[good], width=4)

# %%
# Which rows are the outliers? Those far from the subspace.

found = np.flatnonzero(robust.predict(X) == -1)
print(f"{np.isin(bad, found).sum()} of {len(bad)} outliers found; {np.isin(good, found).sum()} good rows flagged")
distances = ResidualsDisplay.from_estimator(robust, X, width=5)

# %%
# The certificate says whether this is known to be the best of all solutions.

print(robust.certificate_)
