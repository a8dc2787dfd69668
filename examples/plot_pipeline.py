"""
Does it help a classifier?
==========================

Kernel PCA in a pipeline, with everything searched at once: kernel, width and number of components. Parts are objects
with parameters, so a grid search reaches into them.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline

from kernelpca import KernelPCA
from kernelpca.kernels import RBF, Polynomial

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=700, random_state=0, stratify=y)

pipeline = Pipeline([("map", KernelPCA(kernel=RBF())), ("classify", LinearDiscriminantAnalysis())])
gammas, sizes = [0.003, 0.01, 0.03, 0.1, 0.3], [10, 30, 60, 100]
grid = [
    {"map__kernel__gamma": gammas, "map__n_components": sizes},
    {"map__kernel": [Polynomial(3, gamma=0.05)], "map__n_components": sizes},
]
search = GridSearchCV(pipeline, grid, cv=3).fit(X_train, y_train)
print("best:", search.best_params_)

# %%
# On digits that were never seen, beside the classifier alone.

alone = LinearDiscriminantAnalysis().fit(X_train, y_train)
print(f"with kernel PCA {search.score(X_test, y_test):.3f}, without {alone.score(X_test, y_test):.3f}")

# %%
# The whole grid of the Gaussian kernel.

scores = search.cv_results_["mean_test_score"][: len(gammas) * len(sizes)].reshape(len(gammas), len(sizes))
figure, axis = plt.subplots(figsize=(5, 3.4), layout="constrained")
image = axis.imshow(scores, cmap="viridis", aspect="auto")
for i, j in np.ndindex(scores.shape):
    dark = scores[i, j] < (scores.min() + scores.max()) / 2
    axis.text(j, i, f"{scores[i, j]:.3f}", ha="center", va="center", color="white" if dark else "black", fontsize=8)
axis.set_xticks(range(len(sizes)), [str(k) for k in sizes])
axis.set_yticks(range(len(gammas)), [f"{gamma:g}" for gamma in gammas])
axis.set_xlabel("components")
axis.set_ylabel("gamma")
figure.colorbar(image, label="accuracy, cross-validated")
