"""The parts of a model written down for a page (`templates/ways.js`, `model.js`), and the arrays that they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelpca.features.fourier import FourierFeatures
from kernelpca.features.kernel import KernelFeatures
from kernelpca.features.relu import ReLUFeatures
from kernelpca.kernels.base import Kernel, spread_rows
from kernelpca.kernels.dot import Linear
from kernelpca.pages.kernel_terms import describe, describe_sloped
from kernelpca.pages.packed import pack, pack_moved
from kernelpca.preimage import Combination, FixedPoint, Gradient, Invertible, Preimage, Ridge
from kernelpca.preimage.invertible import OF_START
from kernelpca.preimage.protocol import check_bounds
from kernelpca.preimage.ridge import Combinations
from kernelpca.preimage.space import Space

ROOM = 8_400_000  # bytes of a model in a page, which are a third more as text: 500 images of 64 x 64 numbers
MANY = 2000  # rows that a page can go through for each picture, even short ones
LANDMARKS = 1000  # on which a map is learned, where there is room
FINE = 2**17  # numbers up to which an array keeps its 64 bits
ALLOWED = 1e-5  # error of coefficients of 32 bits, over the range of the answers
PROBES = 64  # scores at which that is looked at

Written = dict[str, Any]


class CannotExport(Exception):
    """Why a page cannot do what the model does."""


@dataclass
class Parts:
    """Writes parts of a model as JSON; arrays are named, so that parts can share them.

    Attributes
    ----------
    width : int
        Columns of the input.
    max_anchors : int or None
        Most rows of the model in the page; None for as many as there is room for.
    arrays : dict
        Those written so far, by name.
    """

    width: int
    max_anchors: int | None = None
    arrays: dict[str, Written] = field(default_factory=dict)

    def landmarks(self, share: float) -> int:
        """Return on how many rows a map can be learned that takes such a share of the room; some in any case."""
        if self.max_anchors is not None:
            return self.max_anchors
        return int(np.clip(share * self._room() / (4 * self.width), 16, LANDMARKS))

    def has_room(self, rows: int, size: int) -> bool:
        """Whether so many rows of so many bytes may be in the page besides what is there."""
        if self.max_anchors is not None:
            return rows <= self.max_anchors
        return rows <= MANY and size <= self._room()

    def _room(self) -> int:
        return ROOM - sum(map(_bytes, self.arrays.values()))

    # ways back

    def back(self, method: Preimage, space: Space, layer: int = 0) -> Written:
        """Write a way back, or say why a page cannot compute it."""
        if isinstance(method, Combination):
            way = self._combination(space, layer)
        elif isinstance(method, FixedPoint):
            way = self._fixed_point(method, space, layer)
        elif isinstance(method, Gradient):
            way = self._gradient(method, space, layer)
        elif isinstance(method, Ridge):
            way = self.ridge(method, space)
        elif isinstance(method, Invertible):
            way = self._invertible(method, space, layer)
        else:
            raise CannotExport(
                "it computes descent, fixed points, ridge regression, combinations and inverted features only"
            )
        return way | bounds_of(method, space)

    def _combination(self, space: Space, layer: int) -> Written:
        model = space.decomposition
        center = model.mean_weights @ space.samples + space.origin
        return {
            "kind": "linear",
            "axes": self._axes(space, layer),
            "center": self.put(f"center{layer}", center, np.float64),
            "signs": model.signs.tolist(),
        }

    def _fixed_point(self, method: FixedPoint, space: Space, layer: int) -> Written:
        if method.start == "reference":
            raise CannotExport("start='reference' needs inputs to start from, which scores do not have")
        return {
            "kind": "fixed_point",
            **self._sloped(space, layer),
            **self._target(space, layer),
            "max_iter": int(method.max_iter),
            "max_restarts": int(method.max_restarts),
            "tol": float(method.tol),
            "start": "nearest" if method.start == "nearest" else "mean",
        }

    def _gradient(self, method: Gradient, space: Space, layer: int) -> Written:
        if space.expands:
            way = self._sloped(space, layer)
        else:
            way = self._features(space, layer)
            if space.knows_samples:
                way["rows"] = self._rows(space, layer)
            else:
                factors = space.features.factors  # type: ignore[attr-defined]
                back = factors.finish(factors.U, OF_START * factors.largest**2)
                way["back"] = self._fine(f"back{layer}", back)
        way |= self._target(space, layer)
        steps = {"max_iter": int(method.max_iter), "tol": float(method.tol), "spread": float(space.spread)}
        return way | {"kind": "gradient"} | steps

    def _sloped(self, space: Space, layer: int) -> Written:
        """The model's rows, and a kernel with its slopes."""
        kernel = computed_kernel(space)
        term = describe_sloped(kernel)
        if term is None:
            raise CannotExport(f"it does not know the slopes of {_name(space.kernel)}")
        anchors = self._anchors(space, layer)
        return {"kernel": term, "radial": kernel.radial, "anchors": anchors, "origin": self._origin(space, layer)}

    def _target(self, space: Space, layer: int) -> Written:
        """The point that scores stand for, and its distances from samples, where some are known."""
        model = space.decomposition
        target = self._expansion(space, layer) | {
            "b": model.b.tolist(),
            "mean_square": float(model.mean_square),
            "definite": bool(model.positive_definite),
            "eps": float(np.finfo(space.dtype).eps),
        }
        if space.knows_samples:
            target["scores"] = self.put(f"scores{layer}", space.scores, np.float64)
            target["lengths"] = (np.square(space.scores, dtype=np.float64) @ model.signs + space.residuals).tolist()
        return target

    def ridge(self, method: Ridge, space: Space | None) -> Written:
        """Write a ridge regression: coefficients of its own, or weights of rows that the page has anyway."""
        term = describe(method.kernel_)
        if term is None:
            raise CannotExport(f"it does not know the kernel between scores, {_name(method.kernel_)}")
        way: Written = {"kind": "ridge", "kernel": term, "centers": self.put("centers", method.scores_, np.float64)}
        learned = method._map
        if isinstance(learned, Combinations) and space is not None and describe(computed_kernel(space)) is not None:
            way |= {"base": learned.base, "anchors": self._anchors(space, 0), "origin": self._origin(space, 0)}
            return way | {"weights": self._learned("weights", method, learned.weights, space.samples)}
        coef = method.dual_coef_
        mean = self.put("mean", method.mean_, np.float64)
        return way | {"coefficients": self._learned("coefficients", method, coef), "mean": mean}

    def _learned(self, name: str, method: Ridge, coef: np.ndarray, rows: np.ndarray | None = None) -> str:
        """Write what kernel values are multiplied by, and the products by `rows` if there are some.

        A weak ridge makes coefficients large, and their sums cancel: they are then written in float64.
        """
        values = method.kernel_(spread_rows(method.scores_, PROBES), method.scores_)
        answers, lost = values @ coef, values @ (coef - coef.astype(np.float32))
        if rows is not None:
            answers, lost = answers @ rows, lost @ rows
        fine = np.abs(lost).max() > ALLOWED * np.ptp(answers)
        size = coef.size * (8 if fine else 4)
        if not (self.has_room(len(coef), size) if rows is None else size <= ROOM / 2):
            raise CannotExport(f"it was learned from {len(coef)} rows, which are too many")
        return self.put(name, coef, np.float64 if fine else np.float32)

    def _invertible(self, method: Invertible, space: Space, layer: int) -> Written:
        way = self._features(space, layer) | self._expansion(space, layer)
        way |= {"kind": "invertible", "branch": method.branch}
        factors = space.features.factors  # type: ignore[attr-defined]
        way["back"] = self._fine(f"back{layer}", factors.finish(factors.U, float(method.ridge)))
        if space.knows_samples:
            scores = self.put(f"scores{layer}", space.scores, np.float64)
            way |= {"rows": self._rows(space, layer), "scores": scores}
        return way

    def _rows(self, space: Space, layer: int) -> str:
        """Training rows that a model of random features keeps."""
        rows = self._moved(space) if space.samples.size <= self._room() else None
        if rows is None or _bytes(rows) > self._room():
            raise CannotExport(f"it starts at one of {len(space.samples)} training rows, which are too many")
        self.arrays[f"rows{layer}"] = rows
        return f"rows{layer}"

    def _moved(self, space: Space) -> Written:
        samples = space.samples
        fine = np.float64 if samples.size <= FINE else np.float32
        return pack_moved(samples, space.decomposition.features.origin, fine)

    # the way forth

    def forth(self, space: Space, layer: int = 0) -> Written:
        """Write how scores of inputs are found, or say why a page cannot find them."""
        features = space.decomposition.features
        origin = {"origin": self._origin(space, layer), "b": space.decomposition.b.tolist()}
        if not isinstance(features, KernelFeatures):
            return self._features(space, layer) | {"W": self._weights(space, layer)} | origin
        if isinstance(features.kernel, Linear):
            return {"kind": "linear", "axes": self._axes(space, layer), **origin}
        term = describe(features.kernel)
        if term is None:
            raise CannotExport(f"it does not know the kernel {_name(space.kernel)}")
        anchors = self._anchors(space, layer)
        return {"kind": "kernel", "kernel": term, "anchors": anchors, "W": self._weights(space, layer), **origin}

    def regressed(self, method: Ridge) -> Written:
        """Write scores as a ridge regression on inputs; `method` was learned with the two exchanged."""
        self.arrays["landmarks"] = pack(method.scores_)
        W = self.put("landmark_weights", method.dual_coef_, np.float64)
        term = describe(method.kernel_)
        return {
            "kind": "kernel",
            "kernel": term,
            "anchors": "landmarks",
            "W": W,
            "origin": None,
            "b": method.mean_.tolist(),
        }

    # what they share

    def put(self, name: str, array: np.ndarray, dtype: Any) -> str:
        """Write an array, unless it is there, and return its name."""
        if name not in self.arrays:
            self.arrays[name] = pack(array, dtype)
        return name

    def rows_of(self, space: Space, X: np.ndarray) -> Written | None:
        """Return which arrays hold rows X (n, d) already, if the model's rows are these, in their order."""
        if "anchors0" not in self.arrays or space.samples.shape != X.shape:
            return None
        off = np.abs(space.local(X) - space.samples).max()
        if off > 1e-6 * np.abs(X).max():
            return None
        return {"anchors": "anchors0", "origin": self._origin(space, 0)}

    def _anchors(self, space: Space, layer: int) -> str:
        name = f"anchors{layer}"
        if name not in self.arrays:
            count, least = space.samples.shape[0], space.samples.size  # a byte for each number
            rows = self._moved(space) if self.has_room(count, least) else None
            if rows is None or not self.has_room(count, _bytes(rows)):
                raise CannotExport(f"the model's {count} rows are too many")
            self.arrays[name] = rows
        return name

    def _axes(self, space: Space, layer: int) -> str:
        """Directions of the linear kernel as rows of the input space."""
        return self.put(f"axes{layer}", space.decomposition.W.T @ space.samples, np.float64)

    def _features(self, space: Space, layer: int) -> Written:
        """Random features: frequencies, phases and what else they have."""
        features = space.features
        if not isinstance(features, FourierFeatures | ReLUFeatures):
            raise CannotExport(f"it does not know {type(features).__name__}")
        if 8 * features.W.size > ROOM:  # there and back, in float32
            raise CannotExport(f"{len(features.W)} frequencies of {features.W.shape[1]} numbers are too many")
        form, phases = (features.form, features.b) if isinstance(features, FourierFeatures) else ("relu", None)
        return {
            "kind": "features",
            "form": form,
            "amplitude": float(features.amplitude),
            "frequencies": self._fine(f"frequencies{layer}", features.W),
            "phases": None if phases is None else phases.tolist(),
            "origin": self._origin(space, layer),
        }

    def _expansion(self, space: Space, layer: int) -> Written:
        """How scores become coefficients of features: mean_weights + W (signs z)."""
        model = space.decomposition
        return {
            "W": self._weights(space, layer),
            "mean_weights": self.put(f"mean_weights{layer}", model.mean_weights, np.float64),
            "signs": model.signs.tolist(),
        }

    def _weights(self, space: Space, layer: int) -> str:
        return self.put(f"W{layer}", space.decomposition.W, np.float64)

    def _origin(self, space: Space, layer: int) -> str | None:
        origin = space.decomposition.features.origin
        return None if origin is None else self.put(f"origin{layer}", origin, np.float64)

    def _fine(self, name: str, array: np.ndarray) -> str:
        return self.put(name, array, np.float64 if array.size <= FINE else np.float32)


def computed_kernel(space: Space) -> Kernel:
    """Return the kernel of a model that keeps rows as it is computed: less one, where that keeps digits."""
    features = space.decomposition.features
    return features.kernel if isinstance(features, KernelFeatures) else space.kernel


def limits_of(method: Preimage, space: Space) -> tuple[np.ndarray, np.ndarray]:
    """(d,), (d,): bounds of the answer, in the units of the input."""
    low, high = check_bounds(method.bounds, space.width, method)
    return (np.maximum(low, 0.0) if space.kernel.domain == "nonnegative" else low), high


def bounds_of(method: Preimage, space: Space) -> Written:
    """Write the bounds of the answer; None where there are none."""
    low, high = limits_of(method, space)
    if np.isinf(low).all() and np.isinf(high).all():
        return {"low": None, "high": None}
    far = float(np.finfo(np.float64).max)
    return {"low": np.maximum(low, -far).tolist(), "high": np.minimum(high, far).tolist()}


def _bytes(packed: Written) -> int:
    return int(np.prod(packed["shape"])) * np.dtype(packed["type"]).itemsize


def _name(kernel: Kernel) -> str:
    return type(kernel).__name__
