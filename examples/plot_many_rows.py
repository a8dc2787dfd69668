"""
A hundred thousand rows: how many landmarks do I need?
======================================================

Patches of 6 x 6 pixels of a photograph are rows of 36 numbers. Exact kernel PCA would read ten billion kernel values;
landmarks read a few hundred for each row, and the certificate says what that costs.
"""

# sphinx_gallery_thumbnail_number = 2
import time

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from kernelpca import KernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import RBF
from kernelpca.plotting import TraversalDisplay

photo = load_sample_image("china.jpg").mean(axis=2, dtype=np.float32) / 255
patches = np.lib.stride_tricks.sliding_window_view(photo, (6, 6)).reshape(-1, 36)
patches = patches - patches.mean(axis=1, keepdims=True)  # what is in a patch, and not how bright it is
contrast = np.linalg.norm(patches, axis=1, keepdims=True)
seen = contrast[:, 0] > 0.3  # plain sky is left out
patches = patches[seen] / contrast[seen]  # and not how strong it is
X = np.random.default_rng(0).permutation(patches)[:100_000]
print(X.shape, X.dtype)

# %%
# The plan, before anything is computed.

print(KernelPCA(12, kernel=RBF(0.15), approximation=Nystrom(100)).explain_plan(X))

# %%
# More landmarks take longer and leave less to be gained by exact kernel PCA: the bound says so without knowing the
# exact answer.

sizes, seconds, missed, captured = [25, 50, 100, 200, 400], [], [], []
for m in sizes:
    began = time.perf_counter()
    model = KernelPCA(12, kernel=RBF(0.15), approximation=Nystrom(m)).fit(X)
    seconds.append(time.perf_counter() - began)
    missed.append(model.certificate_.approximation.missed)
    captured.append(model.explained_variance_ratio_.sum())
    print(f"{m:4} landmarks: {captured[-1]:.4f} captured, exact at most {missed[-1]:.2%} more")

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.loglog(sizes, np.array(missed) * 100, "o-", color="#0072b2")
axis.set_xticks(sizes, [str(m) for m in sizes])
axis.set_yticks([10, 20, 50, 100], ["10", "20", "50", "100"])
axis.minorticks_off()
axis.set_xlabel("landmarks")
axis.set_ylabel("variance missed, at most (%)")
axis.spines[["top", "right"]].set_visible(False)

# %%
# What the components are: edges, and then bars. Bars below the images say where the map leaves the data.

along = TraversalDisplay.from_estimator(model, components=range(6), image_shape=(6, 6), ink=False, width=5)
