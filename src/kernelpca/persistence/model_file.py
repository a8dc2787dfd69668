"""Model files: a zip of arrays and JSON, written whole or not at all, and verified before anything is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from kernelpca.atomic import writing_atomically
from kernelpca.io.reading import say_absent
from kernelpca.memory import readable_bytes
from kernelpca.persistence import arrays, catalogue, consistency
from kernelpca.persistence.archive import Archive, ArchiveWriter
from kernelpca.persistence.decoding import Decoder
from kernelpca.persistence.encoding import TAG, Encoder
from kernelpca.persistence.errors import ModelFileError, damaged
from kernelpca.persistence.provenance import check_provenance, own_version, provenance_of

FORMAT = 1
MODEL, MANIFEST, DIGEST = "model.json", "manifest.json", "manifest.sha256"
MOST_JSON = 2**22  # bytes of a member that is read as JSON
# objects and lists within one another: a kernel's text makes up to 101, and what goes through them calls itself some
# five times for each, of the thousand times that Python allows
DEEPEST = 128
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)  # one without an end goes on to the end of all
# what a manifest begins with: its format, and the version that wrote it
OPENING = re.compile(rb'\s*{\s*"format"\s*:\s*([0-9]{1,9})\s*,\s*"kernelpca"\s*:\s*"([0-9A-Za-z.+_-]{1,40})"')
SIMPLER = "Build it of fewer parts within one another, or keep it by joblib.dump(model, path)."


def save(model: Any, path: str | PathLike[str]) -> Path:
    """Write a model, or a part such as a kernel, to a file; what was there before is replaced when all is written.

    Parameters
    ----------
    model : estimator or part of kernelpca
        Fitted or not. A callback is left out.
    path : path
        Where to; the usual suffix is .kpca.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    ModelFileError
        If the model holds what a file does not: functions, rows on a cluster, classes of others.
    OSError
        If the file cannot be written: the one that was there before, if any, is as it was.

    Examples
    --------
    >>> import tempfile, kernelpca
    >>> model = kernelpca.KernelPCA(n_components=2).fit([[0.0], [1.0], [3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = kernelpca.load(model.save(f"{folder}/m.kpca"))
    >>> bool((again.transform([[2.0]]) == model.transform([[2.0]])).all())
    True
    """
    path = Path(path)
    if not catalogue.name_of(model):
        best = "Save what it has found: model.best_estimator_.save(path). " if hasattr(model, "best_estimator_") else ""
        raise ModelFileError(
            f"{type(model).__module__}.{type(model).__qualname__} is no estimator or part of kernelpca that a model "
            f"file holds. {best}All of it is kept by joblib.dump(model, path) or skops."
        )
    encoder = Encoder()
    try:
        encoder.encode(model, type(model).__name__)
        deep = _depth(encoder.objects) > DEEPEST
    except RecursionError:
        deep = True
    if deep:
        raise ModelFileError(
            f"The parts of this {type(model).__name__} are nested too deeply: {DEEPEST} within one another are the "
            f"most. {SIMPLER}"
        )
    tree = _to_json({"objects": encoder.objects}, "parameters")
    try:
        with writing_atomically(path) as file:
            _write(file, encoder.arrays, tree, provenance_of(model))
    except OSError as error:
        raise _not_written(path, error, encoder.arrays) from error
    return path


def load(path: str | PathLike[str], *, mmap: bool | str = "auto") -> Any:
    """Read a model that `save` has written; no code of the file is executed.

    Every byte of every member is compared with the digests in the file first, and the model is tried on two rows at
    the end.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool or "auto", default="auto"
        Whether arrays stay in the file and are mapped into memory, read-only, instead of being read: "auto" for those
        of 16 MiB or more. The file must not be changed in place while the model is used; `save` never does that.

    Returns
    -------
    model : estimator or part of kernelpca
        As it was saved: the same scores to the bit on the same machine.

    Raises
    ------
    ModelFileError
        If the file is no model, damaged, inconsistent, or of a newer format.
    """
    if not isinstance(mmap, bool | np.bool_) and not (isinstance(mmap, str) and mmap == "auto"):
        raise ValueError(f"mmap={mmap!r}: give True, False or 'auto'.")
    with _blaming(path), Archive(Path(path)) as archive:
        manifest = _read_manifest(archive)
        stored = _verify(archive, manifest)
        least = arrays.MAPPED if isinstance(mmap, str) else 0 if mmap else 2**63
        found = [arrays.get(archive, one, one.bytes >= least) for one in stored]
        tree = _from_json(archive.read(MODEL, MOST_JSON), MODEL)
        if tree.keys() != {"objects"}:
            raise damaged(f"{MODEL} holds more or less than objects")
        if _depth(tree["objects"]) > DEEPEST:
            raise damaged(f"Its objects are nested more than {DEEPEST} levels deep")
        with _blaming_versions(str(manifest.get("kernelpca"))):
            model = Decoder(found, consistency.check).decode_all(tree["objects"])
        if catalogue.name_of(model) != manifest["model"].get("class"):
            raise damaged(f"It holds a {type(model).__name__}, and {MANIFEST} says otherwise")
        return model


def describe(path: str | PathLike[str]) -> dict[str, Any]:
    """Return what a file says of its model, without loading it: class, versions, rows, columns, components, bytes.

    Of the digests only that of this description is verified.
    """
    with _blaming(path), Archive(Path(path)) as archive:
        manifest = _read_manifest(archive)
        return {**manifest["model"], "format": manifest["format"], "bytes": Path(path).stat().st_size}


# writing


def _write(file: Any, found: list[np.ndarray], tree: bytes, model: dict[str, Any]) -> None:
    with ArchiveWriter(file) as writer:
        described = [arrays.put(writer, i, array) for i, array in enumerate(found)]
        digest = writer.add(MODEL, len(tree), [tree])
        manifest = {
            "format": FORMAT,
            "kernelpca": own_version(),
            "model": model,
            "arrays": described,
            "members": {MODEL: {"bytes": len(tree), "sha256": digest}},
        }
        content = _to_json(manifest, "arrays", indent=1)
        line = f"{writer.add(MANIFEST, len(content), [content])}  {MANIFEST}\n".encode()
        writer.add(DIGEST, len(line), [line])


def _to_json(content: dict[str, Any], what: str, indent: int | None = None) -> bytes:
    """Return JSON that `load` reads; `what` of the model it is about."""
    text = json.dumps(content, indent=indent, allow_nan=False).encode()
    if len(text) > MOST_JSON:
        raise ModelFileError(
            f"The {what} of this model take {readable_bytes(len(text))} as text, and {readable_bytes(MOST_JSON)} are "
            "the most: give long lists, such as landmarks, as one array."
        )
    if _nesting(text) > DEEPEST:
        raise ModelFileError(f"The {what} of this model are lists nested more than {DEEPEST} deep. {SIMPLER}")
    return text


def _not_written(path: Path, error: OSError, found: list[np.ndarray]) -> OSError:
    cause = error.strerror or str(error)
    if not path.parent.is_dir():
        advice = "make that folder first, or choose another one"
    else:
        needed = readable_bytes(sum(array.nbytes for array in found))
        advice = f"the file that may have been there is as it was; about {needed} are needed"
    return type(error)(error.errno, f"{path} was not written: {cause}; {advice}.")


# reading


class _blaming:
    """Name the file in whatever is wrong with it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, ModelFileError):
            raise ModelFileError(f"{self.path} cannot be loaded. {' '.join(str(error).split())}") from error
        if isinstance(error, FileNotFoundError):
            absent = say_absent(Path(self.path), ".kpca")
            raise FileNotFoundError(f"{absent} Models are made by model.save(path).") from error


def _read_manifest(archive: Archive) -> dict[str, Any]:
    """Return the manifest once its digest is verified; a newer format is told before anything else is judged."""
    if MANIFEST not in archive.members:
        raise ModelFileError(f"It is a zip file, but no model file: it has no {MANIFEST}.")
    content = archive.read(MANIFEST, MOST_JSON)
    opening = OPENING.match(content)
    if opening and int(opening[1]) > FORMAT:
        raise ModelFileError(
            f"It has format {int(opening[1])}, written by kernelpca {opening[2].decode()}, and kernelpca "
            f"{own_version()} reads formats up to {FORMAT}. Update: pip install --upgrade kernelpca"
        )
    if archive.read(DIGEST, 200) != f"{sha256(content).hexdigest()}  {MANIFEST}\n".encode():
        raise damaged(f"The digest of {MANIFEST} is not the one in {DIGEST}")
    manifest = _from_json(content, MANIFEST)
    if type(manifest.get("format")) is not int or manifest["format"] != FORMAT:
        raise damaged(f"{MANIFEST} does not begin with a format that there is")
    check_provenance(manifest.get("model"))
    return manifest


@contextmanager
def _blaming_versions(written_by: str) -> Iterator[None]:
    """Say of a file whose digests are right that it is too new, if it is, where something in it is not known."""
    try:
        yield
    except ModelFileError as error:
        if _numbers(written_by) > _numbers(own_version()):
            raise ModelFileError(
                f"It was written by kernelpca {written_by}, which is newer than kernelpca {own_version()}, and has "
                "what this one does not know. Update: pip install --upgrade kernelpca"
            ) from error
        raise


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with."""
    found = re.match(r"\d{1,9}(\.\d{1,9}){0,3}", version)
    return tuple(int(number) for number in found[0].split(".")) if found else ()


def _verify(archive: Archive, manifest: dict[str, Any]) -> list[arrays.Stored]:
    """Compare every member with its digest, and return the descriptions of the arrays."""
    described, members = manifest.get("arrays"), manifest.get("members")
    if not isinstance(described, list) or not isinstance(members, dict):
        raise damaged(f"{MANIFEST} does not list what there is")
    entries = {**members, **{f"arrays/{i}.npy": entry for i, entry in enumerate(described)}}
    if entries.keys() | {MANIFEST, DIGEST} != archive.members.keys() or members.keys() != {MODEL}:
        raise damaged("Its members are not those that are listed")
    for name, entry in entries.items():
        if not isinstance(entry, dict) or not re.fullmatch("[0-9a-f]{64}", str(entry.get("sha256"))):
            raise damaged(f"{name} has no digest")
        if entry.get("bytes") != archive.members[name].size or entry["sha256"] != archive.digest(name):
            raise damaged(f"The bytes of {name} are not those that were written")
    return [arrays.Stored.parse(i, entry) for i, entry in enumerate(described)]


def _nesting(content: bytes) -> int:
    """Return how deep JSON is nested, in time that grows with its length alone."""
    codes = np.frombuffer(STRING.sub(b"", content), np.uint8)
    step = np.isin(codes, (ord("["), ord("{"))).astype(np.int8) - np.isin(codes, (ord("]"), ord("}")))
    return int(step.cumsum(dtype=np.int32).max(initial=0))


def _depth(objects: Any) -> int:
    """Return how deep objects are nested, each with the lists in it and all that it refers to before it."""
    depths: list[int] = []

    def of(node: Any) -> int:
        if not isinstance(node, dict | list):
            return 0
        if isinstance(node, dict) and node.get(TAG) == "object":
            index = node.get("id")
            return depths[index] if type(index) is int and 0 <= index < len(depths) else 0  # refused where it is read
        return 1 + max(map(of, node.values() if isinstance(node, dict) else node), default=0)

    for node in objects if isinstance(objects, list) else ():
        depths.append(of(node.get("attributes")) if isinstance(node, dict) else 0)
    return max(depths, default=0)


def _from_json(content: bytes, name: str) -> dict[str, Any]:
    """Read a member as JSON: an object, not nested without end, no key given twice."""
    if _nesting(content) > DEEPEST:
        raise damaged(f"{name} is nested more than {DEEPEST} levels deep")
    try:
        tree = json.loads(content, object_pairs_hook=_pairs, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise damaged(f"{name} is no JSON ({error})") from error
    if not isinstance(tree, dict) or TAG in tree:
        raise damaged(f"{name} is no JSON object")
    return tree


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise damaged("A key is given twice")
    return found


def _constant(name: str) -> Any:
    raise damaged(f"{name} is no number in JSON")
