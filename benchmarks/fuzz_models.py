"""Mutated model files: each must be refused by `ModelFileError`, or load as a model that answers.

    python benchmarks/fuzz_models.py            # 10,000 files, about three minutes
    python benchmarks/fuzz_models.py --count 500 --seed 7

Bytes are flipped, cut, doubled and mixed; members are swapped, packed anew, renamed and hidden behind each other;
trees, numbers and shapes are changed with all digests repaired, so that only the checks behind the digests are left.
While a file is loaded nothing may be compiled, executed, imported, opened for writing or connected to (an audit hook
watches), memory may not grow by a gigabyte, and no file may take longer than a few seconds.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import kernelpca
from kernelpca.persistence import ModelFileError, catalogue
from kernelpca.persistence.archive import ArchiveWriter
from kernelpca.persistence.arrays import Stored
from kernelpca.persistence.model_file import DIGEST, MANIFEST, MODEL
from model_cases import CASES

GIGABYTE = 2**30
SLOW = 20  # seconds that no file may take
CORPUS = (
    "kernel rbf",
    "kernel sum",
    "kernel fisher",
    "kernel spectrum",
    "kernel rbf of spectrum",
    "precomputed weighted",
    "precomputed columns",
    "sparse rows",
    "named columns",
    "generator",
    "random state",
    "float32 nystrom",
    "landmarks given",
    "fourier paired orthogonal",
    "fourier sin iid",
    "sketch GaussianProjection()",
    "preimage ridge",
    "preimage ridge of long rows",
    "preimage fixed point of landmarks",
    "relu",
    "robust",
    "sparse",
    "stream",
    "stream raw",
    "stream of texts",
    "invertible layers",
    "drop-in rbf",
    "drop-in sparse",
    "pca auto",
    "pca project",
)
Members = dict[str, bytes]


@dataclass(frozen=True)
class Sample:
    """A model file, rows for its model, and the scores of these rows."""

    name: str
    content: bytes
    rows: Any
    scores: np.ndarray

    @property
    def members(self) -> Members:
        """Its members by name."""
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def make_corpus(folder: Path, names: tuple[str, ...] = CORPUS) -> list[Sample]:
    """Fit and save the models that will be mutated."""
    samples = []
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, rows = CASES[name]()
            path = model.save(folder / "model.kpca")
            samples.append(Sample(name, path.read_bytes(), rows, np.asarray(model.transform(rows))))
            kernelpca.load(path)  # whatever is imported, is imported now
    return samples


def pack(members: Members) -> bytes:
    """Write members as `save` does."""
    buffer = io.BytesIO()
    with ArchiveWriter(buffer) as writer:
        for name, content in members.items():
            writer.add(name, len(content), [content])
    return buffer.getvalue()


def repaired(members: Members, manifest: dict[str, Any] | None = None) -> bytes:
    """Write members with digests and sizes as they now are."""
    manifest = json.loads(members[MANIFEST]) if manifest is None else manifest
    for i, entry in enumerate(manifest["arrays"]):
        content = members[f"arrays/{i}.npy"]
        entry |= {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    tree = members[MODEL]
    manifest["members"] = {MODEL: {"bytes": len(tree), "sha256": sha256(tree).hexdigest()}}
    return sealed(members | {MANIFEST: json.dumps(manifest).encode()})


def sealed(members: Members) -> bytes:
    """Write members with the digest of the manifest as it now is."""
    line = f"{sha256(members[MANIFEST]).hexdigest()}  {MANIFEST}\n".encode()
    return pack(members | {DIGEST: line})


# mutations: (sample, another sample, rng) -> bytes


def flip(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change a few bytes."""
    content = bytearray(sample.content)
    for place in rng.integers(len(content), size=rng.integers(1, 9)):
        content[place] = rng.integers(256) if rng.random() < 0.5 else content[place] ^ (1 << rng.integers(8))
    return bytes(content)


def flip_directory(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change a few bytes at the end, where members are listed."""
    content = bytearray(sample.content)
    listed = content.rfind(b"PK\1\2", 0, content.find(b"PK\1\2") + 1)
    for place in rng.integers(listed, len(content), size=rng.integers(1, 5)):
        content[place] = rng.choice([0, 1, 127, 255, int(rng.integers(256))])
    return bytes(content)


def cut(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Leave out the end, the beginning, or something in between."""
    start, stop = sorted(rng.integers(len(sample.content) + 1, size=2))
    return [sample.content[:stop], sample.content[start:], sample.content[:start] + sample.content[stop:]][
        rng.integers(3)
    ]


def grow(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Say something twice, or put noise in between or at the end."""
    start, stop = sorted(rng.integers(len(sample.content) + 1, size=2))
    more = sample.content[start:stop] if rng.random() < 0.5 else rng.bytes(rng.integers(1, 300))
    place = stop if rng.random() < 0.5 else len(sample.content)
    return sample.content[:place] + more + sample.content[place:]


def splice(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Begin as one file and end as another, or mix their members."""
    if rng.random() < 0.5:
        return sample.content[: rng.integers(len(sample.content))] + other.content[rng.integers(len(other.content)) :]
    mixed = sample.members
    theirs = other.members
    for name in rng.choice(list(theirs), size=rng.integers(1, 4)):
        mixed[str(name)] = theirs[str(name)]
    return repaired_if_possible(mixed)


def repaired_if_possible(members: Members) -> bytes:
    """Repair digests where the manifest still lists members that there are."""
    try:
        return repaired(members)
    except (KeyError, ValueError, TypeError):
        return pack(members)


def swap(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Exchange two arrays, with their descriptions or without."""
    members = sample.members
    manifest = json.loads(members[MANIFEST])
    listed = manifest["arrays"]
    if len(listed) > 1:
        a, b = rng.choice(len(listed), 2, replace=False)
        members[f"arrays/{a}.npy"], members[f"arrays/{b}.npy"] = members[f"arrays/{b}.npy"], members[f"arrays/{a}.npy"]
        if rng.random() < 0.8:
            listed[a], listed[b] = listed[b], listed[a]
    return repaired(members, manifest)


def numbers(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change the numbers of an array."""
    members = sample.members
    manifest = json.loads(members[MANIFEST])
    i = int(rng.integers(len(manifest["arrays"])))
    header, data = members[f"arrays/{i}.npy"][:128], bytearray(members[f"arrays/{i}.npy"][128:])
    if data:
        for place in rng.integers(len(data), size=rng.integers(1, 5)):
            nasty = [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, -1.0, 5e-324, float(rng.standard_normal())]
            kind = manifest["arrays"][i]["dtype"]
            size = np.dtype(kind).itemsize
            if np.dtype(kind).kind == "f":
                with np.errstate(over="ignore"):
                    new = np.array(nasty[rng.integers(len(nasty))]).astype(kind).tobytes()
            else:
                new = rng.bytes(size) if rng.random() < 0.5 else bytes([255]) * size
            start = int(place) // size * size
            data[start : start + size] = new
    if rng.random() < 0.2:
        data = bytearray(len(data))
    members[f"arrays/{i}.npy"] = header + bytes(data)
    return repaired(members, manifest)


def shapes(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change what is said of an array, with or without its own header."""
    members = sample.members
    manifest = json.loads(members[MANIFEST])
    entry = manifest["arrays"][i := int(rng.integers(len(manifest["arrays"])))]
    data = members[f"arrays/{i}.npy"][128:]
    shape = list(entry["shape"])
    choice = rng.integers(6)
    if choice == 0 and shape:
        shape[rng.integers(len(shape))] = int(rng.choice([0, 1, -1, 2**31, 2**62, 3]))
    elif choice == 1:
        shape = shape[::-1]
    elif choice == 2:
        shape = [int(np.prod(shape))]
    elif choice == 3:
        shape = [*shape, 1]
    elif choice == 4:
        entry["dtype"] = str(rng.choice(["<f4", "<f8", ">f8", "<i8", "|u1", "|b1", "<U2", "<U0", "O", "<f16", "V8"]))
    else:
        rows = max(shape[0] - 1, 0) if shape else 0
        shape = [rows, *shape[1:]]
        data = data[: int(np.prod(shape)) * np.dtype(entry["dtype"]).itemsize]
    entry["shape"] = shape
    if rng.random() < 0.8:
        members[f"arrays/{i}.npy"] = Stored("", entry["dtype"], tuple(shape)).header + data
    return repaired(members, manifest)


NASTY: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    10**9,
    -(10**9),
    2**63,
    10**30,
    0.0,
    -0.5,
    1.5,
    1e300,
    -1e300,
    1e-300,
    "",
    "rbf",
    "scale",
    "os.system",
    "__class__",
    "\ud800",
    [],
    [1],
    {},
    {"$": "object", "id": 0},
    {"$": "array", "id": 0},
    {"$": "tuple", "items": []},
    {"$": "dict", "items": []},
    {"$": "float", "value": "nan"},
    {"$": "float", "value": "inf"},
    {"$": "dtype", "name": "<f4"},
    {"$": "slice", "start": None, "stop": None, "step": None},
    {"$": "scalar", "dtype": "<f8", "value": 1.0},
    {"$": "exec", "value": "print(1)"},
    {"class": "builtins.eval", "attributes": {}},
)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """List all containers and keys of a tree."""
    for key in tree if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])


def disturb(tree: Any, rng: np.random.Generator) -> None:
    """Change one thing in a tree."""
    found = list(places(tree))
    if not found:
        return
    holder, key = found[rng.integers(len(found))]
    choice = rng.integers(8)
    value = holder[key]
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(holder, dict):
        holder[str(rng.choice(["gamma", "__class__", "W", "kernel", key + "_", "id"]))] = holder.pop(key)
    elif choice == 2:
        there, other = found[rng.integers(len(found))]
        holder[key] = copy.deepcopy(there[other])
    elif choice == 3 and isinstance(value, int | float) and not isinstance(value, bool):
        holder[key] = [value + 1, -value, value * 1000, value / 3, float(value), str(value)][rng.integers(6)]
    elif choice == 4 and isinstance(holder, dict) and "class" in holder:
        holder["class"] = str(rng.choice(list(catalogue.CLASSES)))
    elif choice == 5 and isinstance(holder, list):
        holder.insert(int(rng.integers(len(holder) + 1)), copy.deepcopy(value))
    else:
        holder[key] = copy.deepcopy(NASTY[rng.integers(len(NASTY))])


def tree(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change the model's tree in one to three places."""
    members = sample.members
    content = json.loads(members[MODEL])
    for _ in range(rng.integers(1, 4)):
        disturb(content, rng)
    members[MODEL] = json.dumps(content).encode()
    return repaired(members)


def parameters(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Give one attribute of one object a value that is nasty, or another's."""
    members = sample.members
    content = json.loads(members[MODEL])
    attributes = content["objects"][rng.integers(len(content["objects"]))]["attributes"]
    donors = content["objects"][rng.integers(len(content["objects"]))]["attributes"]
    if attributes:
        values = [*NASTY, *donors.values(), *attributes.values()]
        attributes[str(rng.choice(list(attributes)))] = values[rng.integers(len(values))]
    members[MODEL] = json.dumps(content).encode()
    return repaired(members)


def widened(sample: Sample, d: int) -> bytes:
    """Say that sparse rows have so many columns; where there are none, that other rows do."""
    members = sample.members
    content = json.loads(members[MODEL])
    for holder, key in list(places(content)):
        if isinstance(holder, dict) and holder.get("$") == "sparse" and key == "shape":
            holder[key][1] = d
        elif key == "n_features_in_" or (key == "width" and isinstance(holder[key], int)):
            holder[key] = d
    members[MODEL] = json.dumps(content).encode()
    return repaired(members)


def wide(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Say that there are many more columns than there are."""
    return widened(sample, int(rng.choice([10**3, 10**6, 3 * 10**8, 2**31 - 1, 2**40, 2**62])))


def manifest(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Change the manifest, with its own digest repaired."""
    members = sample.members
    content = json.loads(members[MANIFEST])
    for _ in range(rng.integers(1, 3)):
        disturb(content, rng)
    return sealed(members | {MANIFEST: json.dumps(content).encode()})


def text(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Break the JSON itself."""
    members = sample.members
    name = MODEL if rng.random() < 0.7 else MANIFEST
    content = members[name]
    choice = rng.integers(7)
    place = int(rng.integers(len(content)))
    if choice == 0:
        content = content[:place] + b"[" * int(rng.choice([10, 100, 100_000])) + content[place:]
    elif choice == 1:
        content = b"[" * 200_000 + b"]" * 200_000
    elif choice == 2:
        content = content.replace(b"null", rng.choice([b"NaN", b"Infinity", b"1" * 5000, b"1e999", b"true"]), 1)
    elif choice == 3:
        content = content[:place] + rng.bytes(3) + content[place + 3 :]
    elif choice == 4:
        content = content.replace(b'"class"', b'"class": "kernels.Linear", "class"', 1)
    elif choice == 5:
        content = content[:place] + b'"' + b'\\"' * 10**6
    else:
        content = content[:place]
    members[name] = content
    return repaired_if_possible(members) if name == MODEL else sealed(members)


def archive(sample: Sample, other: Sample, rng: np.random.Generator) -> bytes:
    """Pack the members in ways that `save` never does."""
    members = list(sample.members.items())
    choice = rng.integers(6)
    kind = zipfile.ZIP_DEFLATED if choice == 0 else zipfile.ZIP_STORED
    if choice == 1:
        members.append(members[rng.integers(len(members))])
    elif choice == 2:
        members.append((str(rng.choice(["/etc/passwd", "../m", "arrays/99.npy", "evil.py", "arrays/"])), b"x"))
    elif choice == 3:
        i = int(rng.integers(len(members)))
        members[i] = (str(rng.choice(["/tmp/x", "..\\x", "MODEL.JSON", "arrays/00.npy"])), members[i][1])
    elif choice == 4:
        del members[rng.integers(len(members))]
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", kind) as file:
        warnings.simplefilter("ignore")  # duplicate names are the point
        for name, content in members:
            file.writestr(name, content)
    content = bytearray(buffer.getvalue())
    if choice == 5:  # one entry of the list lies about sizes and places
        entry = content.find(b"PK\1\2")
        for _ in range(rng.integers(len(members))):
            entry = content.find(b"PK\1\2", entry + 1)
        offset, number = [(20, 2**31), (24, 2**32 - 1), (42, 0), (42, 2**31), (24, 0)][rng.integers(5)]
        struct.pack_into("<I", content, entry + offset, number)
    return bytes(content)


MUTATIONS: dict[str, Callable[[Sample, Sample, np.random.Generator], bytes]] = {
    "bytes flipped": flip,
    "list of members flipped": flip_directory,
    "cut": cut,
    "grown": grow,
    "spliced": splice,
    "arrays swapped": swap,
    "numbers changed": numbers,
    "shapes changed": shapes,
    "tree changed": tree,
    "parameters changed": parameters,
    "columns without end": wide,
    "manifest changed": manifest,
    "JSON broken": text,
    "packed oddly": archive,
}

# judging


class Watch:
    """An audit hook that notes whatever a reader of data has no business to do."""

    events = ("exec", "compile", "import", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen",
              "socket.connect", "pickle.find_class", "marshal.loads", "ctypes.dlopen", "os.remove", "os.rename",
              "shutil.rmtree", "open")  # fmt: skip
    libraries = ("numba", "llvmlite")  # the kernels' own machine code, made when a kernel is first used

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, args: tuple) -> None:
        """Note an event, unless a library makes machine code of a kernel of its own."""
        if not self.on or event not in self.events:
            return
        if event == "open" and (not isinstance(args[1], str) or set(args[1]) <= set("rb")):
            return
        if event == "import" and str(args[0]).startswith(("kernelpca", "scipy", "sklearn", "numpy")):
            return
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith(self.libraries):
                return
            if frame.f_globals.get("__name__", "").startswith("importlib") and event in ("exec", "compile"):
                return
            frame = frame.f_back  # type: ignore[assignment]
        self.seen.append(f"{event} {args!r}"[:200])

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while a file is loaded."""
        self.seen.clear()
        self.on = True
        try:
            yield
        finally:
            self.on = False
        if self.seen:
            raise AssertionError(f"Loading did what it must not: {self.seen}")


def judge(path: Path, sample: Sample, watch: Watch) -> str:
    """Load a mutated file and say what came of it; any other exception than ours is let through."""
    try:
        with watch.watching():
            model = kernelpca.load(path)
    except ModelFileError as error:
        if str(path) not in str(error) or "\n" in str(error).strip():
            raise AssertionError(f"Not one sentence that names the file: {error}") from error
        return "refused"
    if not hasattr(model, "transform"):
        return "loads as a part alone"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scores = np.asarray(model.transform(sample.rows))
    except (ValueError, TypeError):  # an unfitted model, other columns, a parameter that has no meaning
        return "loads, and says what is wrong when it is used"
    if not np.isfinite(scores).all():
        raise AssertionError(f"{sample.name}: scores are not finite")
    return "loads, same scores" if np.array_equal(scores, sample.scores) else "loads, other scores"


def too_slow(*_: object) -> None:
    """Interrupt a load that takes too long."""
    raise AssertionError(f"Loading took more than {SLOW} s")


def run(
    samples: list[Sample], count: int, seed: int, folder: Path, watch: Watch
) -> tuple[Counter, list[tuple[str, str, bytes, BaseException]]]:
    """Mutate and judge so many files; return what came of them, and the failures."""
    signal.signal(signal.SIGALRM, too_slow)
    outcomes: Counter = Counter()
    failures = []
    path = folder / "mutated.kpca"
    names = list(MUTATIONS)
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        name = names[i % len(names)]
        sample, other = (samples[rng.integers(len(samples))] for _ in range(2))
        content = MUTATIONS[name](sample, other, rng)
        path.write_bytes(content)
        try:
            signal.alarm(SLOW)
            outcomes[name, judge(path, sample, watch)] += 1
        except Exception as error:  # that is what is looked for
            failures.append((name, sample.name, content, error))
        finally:
            signal.alarm(0)
    return outcomes, failures


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = make_corpus(folder)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, resource.RLIM_INFINITY))
        start = time.perf_counter()
        outcomes, failures = run(samples, given.count, given.seed, folder, Watch())
        took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for (mutation, outcome), number in sorted(outcomes.items()):
        print(f"{mutation:26}{outcome:50}{number:6}")
    for i, (mutation, model, content, error) in enumerate(failures[:20]):
        kept = Path(tempfile.gettempdir()) / f"failure-{i}.kpca"
        kept.write_bytes(content)
        print(f"FAILURE {mutation}, {model}: {type(error).__name__}: {str(error)[:300]} ({kept})")
    total = Counter()
    for (_, outcome), number in outcomes.items():
        total[outcome] += number
    print(f"{given.count} files of {len(samples)} models in {took:.0f} s: {dict(total)}, {len(failures)} failures")
    print(f"peak memory {after / 2**20:.0f} MiB, of which {(after - before) / 2**20:.0f} MiB while loading")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
