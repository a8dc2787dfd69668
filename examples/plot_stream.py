"""
Rows never end, and they change: what does the model remember?
==============================================================

Patches of one photograph come as a stream, then those of another. A model that forgets follows at once; one that
remembers everything needs thousands of rows to come near.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from kernelpca import IncrementalKernelPCA
from kernelpca.features import RandomFourier
from kernelpca.kernels import RBF

rng = np.random.default_rng(0)


def patches(name: str) -> np.ndarray:
    """(n, 75): patches of 5 x 5 pixels in random order."""
    photo = load_sample_image(name) / 255
    return rng.permutation(np.lib.stride_tricks.sliding_window_view(photo, (5, 5, 3))[::7, ::7, 0].reshape(-1, 75))


temple, flower = patches("china.jpg")[:4000], patches("flower.jpg")[:4000]
print(len(temple), "rows of one,", len(flower), "of the other")

# %%
# Both models see the same batches of 400 rows. After each, how much do they leave of patches of either photograph that
# they will never see?

kinds = {"remembers all": None, "forgets: the last 1000 rows count": 1 / 1000}
models = {
    name: IncrementalKernelPCA(8, kernel=RBF(0.05), approximation=RandomFourier(256), forget=forget)
    for name, forget in kinds.items()
}
held, stream = flower[3600:], np.vstack([temple[:3600], flower[:3600]])
left: dict[str, list[float]] = {name: [] for name in models}
for start in range(0, len(stream), 400):
    for name, model in models.items():
        model.partial_fit(stream[start : start + 400])
        left[name].append(float(model.residuals(held).mean()))

# %%
# The line marks where the stream changes.

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
rows = np.arange(400, len(stream) + 1, 400)
for (name, values), look in zip(left.items(), ("o-", "s--"), strict=True):
    axis.plot(rows, values, look, label=name, color="#0072b2" if look == "o-" else "#d55e00", markersize=4)
axis.axvline(3600, color="#666666", linestyle=":")
axis.set_xlabel("rows seen")
axis.set_ylabel("squared distance of new patches\nof the second photograph")
axis.set_ylim(bottom=0)
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="lower left")

# %%
# Two workers may share a stream: each has a fork, and sums are merged exactly.

worker = models["remembers all"].fork()
worker.partial_fit(flower[3600:])
merged = models["remembers all"].merge(worker)
print(merged.n_samples_seen_, "rows seen in all")
