"""
My samples are texts: can they be mapped without words or counts?
=================================================================

A kernel of strings compares texts by the pieces of letters that they share. Here are pieces of the descriptions of
four data sets; the model never sees which piece is from which.
"""

import re

from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from kernelpca import KernelPCA
from kernelpca.kernels import Spectrum
from kernelpca.plotting import KernelMatrixDisplay, ScoresDisplay

texts, labels = [], []
for name, load in (
    ("cancer", load_breast_cancer),
    ("diabetes", load_diabetes),
    ("digits", load_digits),
    ("wine", load_wine),
):
    plain = re.sub(r"[^a-z ]+", " ", load().DESCR.lower())
    words = plain.split()
    pieces = [" ".join(words[i : i + 40]) for i in range(0, len(words) - 39, 20)]
    texts += pieces
    labels += [name] * len(pieces)
print(len(texts), "pieces of 40 words, such as:", texts[0])

# %%
# Common pieces of five letters, each text brought to length one in feature space.

kernel = Spectrum(length=5).normalize()
model = KernelPCA(20, kernel=kernel).fit(texts)
scores = ScoresDisplay.from_estimator(model, texts, labels=labels, width=5)

# %%
# The kernel matrix has a block for each description. Pieces overlap by half, so neighbors are alike.

matrix = KernelMatrixDisplay.from_kernel(kernel, texts, labels=labels, width=4.5)

# %%
# How much do scores know? Nearest neighbors guess the description of texts held out; folds are stretches of text, so
# that pieces that overlap stay together.

pipeline = make_pipeline(KernelPCA(20, kernel=kernel), KNeighborsClassifier(3))
print(f"accuracy {cross_val_score(pipeline, texts, labels, cv=5).mean():.2f}, of 4 kinds")
