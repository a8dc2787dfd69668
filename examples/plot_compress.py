"""
Can the model be ten times smaller?
===================================

An exact model keeps its training rows. `compress` replaces them by a few points that do the same work, and states by
how much scores change: for the rows it knows, and for rows never seen.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from kernelpca import KernelPCA
from kernelpca.kernels import RBF

X = load_digits().data / 16
train, new = X[:1200], X[1200:]
model = KernelPCA(5, kernel=RBF(0.02)).fit(train)

# %%
# Fewer and fewer anchors, and what the certificate states beside what happens to digits that the model has not seen.

sizes, stated, happens = [20, 40, 80, 120], [], []
before = model.transform(new)
scale = np.sqrt((before**2).mean(axis=0))
for m in sizes:
    small = model.compress(n_anchors=m)
    stated.append(small.certificate_.compression.error)
    happens.append(float((np.sqrt(((small.transform(new) - before) ** 2).mean(axis=0)) / scale).max()))
    print(f"{m:4} anchors of {len(train)}: stated {stated[-1]:.2%}, on new digits {happens[-1]:.2%}")

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.loglog(sizes, 100 * np.array(stated), "o-", color="#0072b2", label="stated, of the training rows")
axis.loglog(sizes, 100 * np.array(happens), "s--", color="#d55e00", label="measured, on new rows")
axis.set_xticks(sizes, [str(m) for m in sizes])
axis.set_yticks([0.02, 0.05, 0.1, 0.2], ["0.02", "0.05", "0.1", "0.2"])
axis.minorticks_off()
axis.set_xlabel("anchors that are kept, of 1200")
axis.set_ylabel("change of scores (%)")
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False)

# %%
# Or say how much scores may change, and get the smallest model that keeps to it. It is saved like any other.

small = model.compress(tol=0.02)
print(small.certificate_.compression)
