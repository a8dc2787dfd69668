"""
Which rows are like nothing I have seen?
========================================

A model of benign cells only. How far are malignant ones from its subspace, and can a limit tell them apart?
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelpca import PCA, KernelPCA
from kernelpca.kernels import RBF
from kernelpca.plotting import ResidualsDisplay

data = load_breast_cancer()
rng = np.random.default_rng(0)
benign, malignant = rng.permutation(data.data[data.target == 1]), data.data[data.target == 0]
train, known, new = benign[:200], benign[200:280], np.vstack([benign[280:], malignant])
strange = np.r_[np.zeros(len(benign) - 280), np.ones(len(malignant))]

model = make_pipeline(StandardScaler(), KernelPCA(30, kernel=RBF(0.01))).fit(train)
linear = make_pipeline(StandardScaler(), PCA(10)).fit(train)

# %%
# Low `score_samples` are strange. The curve shows what share of malignant cells is found for every share of benign
# cells flagged.

figure, axis = plt.subplots(figsize=(4.5, 4.2), layout="constrained")
for name, way, look in (("kernel PCA", model, "-"), ("PCA", linear, "--")):
    far = -way.score_samples(new)
    axis.plot(*roc_curve(strange, far)[:2], look, label=name, color="#0072b2" if look == "-" else "#d55e00")
    print(f"{name:11} area under the curve {roc_auc_score(strange, far):.3f}")
axis.set_xlabel("part of benign rows that are flagged")
axis.set_ylabel("part of malignant rows that are found")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# A limit from benign rows that the model has not seen.

distances = ResidualsDisplay.from_estimator(model, new, reference=known, width=5)
flagged = distances.outliers
print(f"{flagged[strange == 1].mean():.0%} of malignant and {flagged[strange == 0].mean():.0%} of benign rows flagged")

# %%
# Why is a row strange? Of all malignant rows this one is in the middle. Beside it stands the nearest row that the model
# can explain, for the columns in which they differ most.

scaler, kernel_pca = model[0], model[1]
middle = np.flatnonzero(strange)[distances.residuals[strange == 1].argsort()[len(malignant) // 2]]
row = scaler.transform(new[[middle]])
explained = kernel_pca.denoise(row)
chosen = np.abs(row - explained)[0].argsort()[-8:]

figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
places = np.arange(len(chosen))
axis.barh(places + 0.2, row[0, chosen], 0.4, color="#d55e00", label="the row")
axis.barh(places - 0.2, explained[0, chosen], 0.4, color="#0072b2", hatch="//", label="what the model can explain")
axis.set_yticks(places, data.feature_names[chosen])
axis.set_xlabel("standard deviations of benign rows")
axis.axvline(0, color="black", linewidth=0.8)
axis.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=2, frameon=False)
