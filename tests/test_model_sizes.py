"""Every array of a model file must be as long as the arrays it belongs to: no other is loaded.

The cases are the models of the other tests. In the file of each, one array after the other is made shorter or longer,
with all digests repaired, so that only the checks of sizes are left.
"""

import json
import sys
import warnings
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from scipy import sparse

from kept_models import FOLDER
from kernelpca import DualKernelPCA, IncrementalKernelPCA, KernelPCA
from kernelpca.features import Nystrom
from kernelpca.kernels import KERNELS
from kernelpca.objectives import Huber
from kernelpca.persistence import ModelFileError, catalogue, load
from kernelpca.persistence.arrays import Stored
from kernelpca.persistence.decoding import Decoder
from kernelpca.persistence.encoding import Encoder
from kernelpca.persistence.model_file import MANIFEST, MODEL
from kernelpca.solvers import SOLVERS
from model_cases import CASES, X

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from fuzz_models import repaired

sys.path.pop(0)

ALIKE = {f"solver {name}" for name in SOLVERS} | {
    f"kernel {name}" for name in KERNELS if name not in ("rbf", "spectrum")
}

PARAMETER = "a parameter, as the user gave it: refused by name where it is used"
# (attribute, axis, change): why another size is as good
FREE = {
    ("features.Nystrom.landmarks", 0, "fewer"): PARAMETER,
    ("features.Nystrom.landmarks", 0, "more"): PARAMETER,
    ("features.Nystrom.landmarks", 1, "fewer"): PARAMETER,
    ("features.Nystrom.landmarks", 1, "more"): PARAMETER,
    ("features.Nystrom.landmarks", 0, "none"): PARAMETER,
    ("features.Nystrom.landmarks", 1, "none"): PARAMETER,
    ("preimage.Ridge.bounds", 0, "fewer"): PARAMETER,
    ("preimage.Ridge.bounds", 0, "more"): PARAMETER,
    ("preimage.Ridge.bounds", 0, "none"): PARAMETER,
    ("estimators.Stream.rows", 0, "fewer"): "some rows of a stream, which show what its features are worth",
    ("estimators.Stream.rows", 0, "more"): "some rows of a stream, which show what its features are worth",
    ("preimage.Space.rows", 0, "fewer"): "rows to begin at; of a stream only the first are known",
}


def places(node, holder, key, name):
    """List what is made of arrays within a node: its holder, its key there, and the attribute that it belongs to."""
    if isinstance(node, dict) and node.get("$") in ("array", "sparse", "texts"):
        yield holder, key, name
    for inner in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from places(node[inner], node, inner, name)


def resized(value):
    """Yield an array, sparse matrix or array of texts with a row or column less, with one more, and with none."""
    for axis in range(value.ndim):
        n = value.shape[axis]
        last = [slice(None)] * axis
        if n:
            yield axis, "fewer", value[(*last, slice(n - 1))]
            yield axis, "none", value[(*last, slice(0))]
            stack = (sparse.vstack, sparse.hstack)[axis] if sparse.issparse(value) else None
            more = value[(*last, slice(n - 1, n))]
            if stack is None:
                yield axis, "more", np.concatenate([value, more], axis)
            else:
                yield axis, "more", type(value)(stack([value, more]))


class ModelFile:
    """A model file that can be written with other arrays in it."""

    def __init__(self, content):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.tree = json.loads(self.members[MODEL])
        count = len(json.loads(self.members[MANIFEST])["arrays"])
        self.arrays = [np.load(BytesIO(self.members[f"arrays/{i}.npy"])) for i in range(count)]

    def places(self):
        """List where arrays are named."""
        for one in self.tree["objects"]:
            for part, node in one["attributes"].items():
                yield from places(node, one["attributes"], part, f"{one['class']}.{part}")

    def forgeries(self):
        """Yield the attribute, the axis and the change of each array, and the file with that change."""
        uses = Counter(holder[key]["id"] for holder, key, _ in self.places() if holder[key]["$"] == "array")
        for holder, key, name in list(self.places()):
            node = holder[key]
            value = Decoder(self.arrays, lambda *_: None).decode(node)
            for axis, change, other in resized(value):
                encoder = Encoder()
                encoder.arrays += self.arrays
                holder[key] = encoder.encode(other, name)
                yield name, axis, change, self.written(encoder.arrays)
                holder[key] = node
            if node["$"] == "array" and uses[node["id"]] > 1:  # in all places at once
                stored = self.arrays[node["id"]]
                for axis, change, other in resized(stored):
                    changed = [other if array is stored else array for array in self.arrays]
                    yield name, axis if "axes" not in node else node["axes"].index(axis), change, self.written(changed)

    def written(self, arrays):
        """Return the bytes of the file with these arrays."""
        members, manifest = dict(self.members), json.loads(self.members[MANIFEST])
        described = manifest["arrays"][: len(arrays)]
        manifest["arrays"] = described + [{} for _ in arrays[len(described) :]]
        for i, array in enumerate(arrays):
            if i >= len(self.arrays) or array is not self.arrays[i]:
                array = np.ascontiguousarray(array).reshape(array.shape)
                stored = Stored(f"arrays/{i}.npy", array.dtype.str, array.shape)
                members[stored.member] = stored.header + array.tobytes()
                manifest["arrays"][i] = {"dtype": stored.dtype, "shape": list(stored.shape)}
        members[MODEL] = json.dumps(self.tree).encode()
        return repaired(members, manifest)


def loaded(content, path):
    """Return the attributes of which another size is loaded, and count all changes."""
    found, seen, count = set(), set(), 0
    for name, axis, change, forged in ModelFile(content).forgeries():
        path.write_bytes(forged)
        seen.add(name)
        count += 1
        try:
            load(path)
        except ModelFileError:
            continue
        found.add((name, axis, change))
    return found, seen, count


def test_arrays_of_kept_models_have_the_sizes_of_those_they_belong_to(tmp_path):
    wrong = {}
    for path in sorted(FOLDER.glob("*/*.kpca")):
        found, _, count = loaded(path.read_bytes(), tmp_path / "m.kpca")
        assert count or path.stem == "unfitted"
        wrong |= {(path.stem, *one): "loads" for one in found - FREE.keys()}
    assert wrong == {}


def waiting():
    """A stream with too few rows for its landmarks, which has no answers yet."""
    stream = IncrementalKernelPCA(2, approximation=Nystrom(50))
    return stream.partial_fit(X[:20], sample_weight=np.arange(1.0, 21.0)), None


def test_arrays_of_every_model_have_the_sizes_of_those_they_belong_to(tmp_path):
    wrong, used, attributes = {}, set(), set()
    path = tmp_path / "m.kpca"
    cases = {case: make for case, make in CASES.items() if case not in ALIKE} | {"a stream that waits": waiting}
    for case, make in cases.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of fits, which other tests are about
            model, _ = make()
        model.save(path)
        found, seen, _ = loaded(path.read_bytes(), path)
        used |= found
        attributes |= seen
        wrong |= {(case, *one): "loads" for one in found - FREE.keys()}
    assert wrong == {}
    assert used == FREE.keys()  # nothing is called free that is refused
    # none is left out: all fields of all classes that may be arrays have been changed
    fields = {
        f"{name}.{part}"
        for name in catalogue.CLASSES
        for part, hint in catalogue.blueprint(name).hints.items()
        if part in catalogue.blueprint(name).parameters and np.ndarray in (hint, *get_args(hint))
    }
    assert fields - attributes == set()


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(1, center=False, preimage="gradient"),
        DualKernelPCA(1, center=False, objective=Huber(0.5)),
        KernelPCA(1, kernel="linear", center=False, preimage="ridge"),
    ],
)
def test_a_model_of_one_row_is_loaded(model, tmp_path):
    """Its variances are those of two rows."""
    again = load(model.fit(X[:1]).save(tmp_path / "m.kpca"))
    np.testing.assert_array_equal(again.transform(X[:3]), model.transform(X[:3]))
