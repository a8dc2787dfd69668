"""Turn what public sources give into the arrays of our data files: bytes in, named arrays out.

No pickle is read, nothing is unpacked to disk, and what unpacks to more than `LIMIT` bytes is refused.
"""

from __future__ import annotations

import re
import tarfile
from bz2 import BZ2File
from gzip import GzipFile
from io import BufferedIOBase, BytesIO
from typing import IO
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from kernelpca.extras import require

LIMIT = 256 * 2**20

Arrays = dict[str, np.ndarray]


def usps_from_hdf5(content: bytes) -> Arrays:
    """USPS digits in one HDF5 file: groups train and test, each with data between 0 and 1 and target."""
    h5py = require("h5py", "io", "Reading USPS digits from HDF5")
    with h5py.File(BytesIO(content)) as file:
        (train, y_train), (test, y_test) = (
            (file[part]["data"][:], file[part]["target"][:]) for part in ("train", "test")
        )
    return _usps(train, y_train, test, y_test)


def usps_from_text(train: bytes, test: bytes) -> Arrays:
    """USPS digits as packed text: a row has the digit and its 256 pixels between -1 and 1."""
    tables = [np.loadtxt(BytesIO(_gunzip(content)), dtype=np.float32) for content in (train, test)]
    (train_x, train_y), (test_x, test_y) = (((table[:, 1:] + 1) / 2, table[:, 0]) for table in tables)
    return _usps(train_x, train_y, test_x, test_y)


def _usps(train: np.ndarray, y_train: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> Arrays:
    return {
        "X": np.concatenate([train, test]).astype(np.float32),
        "y": np.concatenate([y_train, y_test]).astype(np.int64),
        "split": np.repeat(np.array([0, 1], np.int8), [len(train), len(test)]),
    }


def mnist(train_images: bytes, train_labels: bytes, test_images: bytes, test_labels: bytes) -> Arrays:
    """MNIST in its four packed IDX files."""
    return {
        "x_train": _idx(train_images),
        "y_train": _idx(train_labels),
        "x_test": _idx(test_images),
        "y_test": _idx(test_labels),
    }


def _idx(content: bytes) -> np.ndarray:
    """IDX of bytes: two zeros, 8 for uint8, the number of axes, their lengths as big-endian uint32, the values."""
    raw = _gunzip(content)
    if raw[:3] != b"\0\0\x08":
        raise ValueError("not an IDX file of bytes")
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def cifar10_test(archive: bytes) -> Arrays:
    """CIFAR-10 in its binary archive: records of a label, then 32 x 32 reds, greens and blues."""
    with tarfile.open(fileobj=BytesIO(archive), mode="r:gz") as tar:
        member = tar.extractfile("cifar-10-batches-bin/test_batch.bin")
        if member is None:
            raise ValueError("the test batch is not a file")
        records = np.frombuffer(_unpacked(member), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    return {"images": records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), "labels": records[:, 0]}


def orl_faces(most: bytes, last: bytes) -> Arrays:
    """ORL faces in two archives of repositories: subjects 1 to 39 in `most`, 40 in `last`."""
    with ZipFile(BytesIO(most)) as first, ZipFile(BytesIO(last)) as second:
        folders = [(first, f"att_faces/s{subject}") for subject in range(1, 40)] + [(second, "s40")]
        images = [_pgm(_member(zip, f"{folder}/{i}.pgm")) for zip, folder in folders for i in range(1, 11)]
    return {
        "images": np.stack(images),
        "subject": np.repeat(np.arange(1, 41, dtype=np.int64), 10),
        "image_no": np.tile(np.arange(1, 11, dtype=np.int64), 40),
    }


def _member(archive: ZipFile, path: str) -> bytes:
    """Return a file of a repository's archive, where everything is in one folder."""
    top = archive.namelist()[0].partition("/")[0]
    with archive.open(f"{top}/{path}") as file:
        return _unpacked(file)


def _pgm(content: bytes) -> np.ndarray:
    """Gray image of bytes: P5, width, height, 255, then the rows."""
    header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", content)
    if header is None:
        raise ValueError("not a PGM image of bytes")
    return np.frombuffer(content, np.uint8, offset=header.end()).reshape(int(header[2]), int(header[1]))


def protein_from_matlab(content: bytes) -> Arrays:
    """Protein as a MATLAB file: the matrix A and labels b."""
    file = loadmat(BytesIO(content), variable_names=("A", "b"))
    return _sparse(file["A"], y=file["b"].ravel().astype(np.int64))


def protein_from_svmlight(content: bytes) -> Arrays:
    """Protein as packed svmlight text."""
    X, y = _svmlight(_bunzip2(content), 357)
    return _sparse(X, y=y)


def rcv1(small: bytes, smaller: bytes, test: bytes) -> Arrays:
    """Three samples of RCV1 as text of Vowpal Wabbit, without rows that came before; columns as numbered there."""
    parts = [_svmlight(content.replace(b"|f", b""), 47_236, zero_based=True) for content in (small, smaller, test)]
    X = sparse.vstack([part for part, _ in parts], format="csr")
    spans = [slice(*X.indptr[i : i + 2]) for i in range(X.shape[0])]
    first: dict[tuple[bytes, bytes], int] = {}
    for i, span in enumerate(spans):
        first.setdefault((X.indices[span].tobytes(), X.data[span].tobytes()), i)
    kept = list(first.values())
    source = np.repeat(np.array([0, 2, 5], np.int64), [len(y) for _, y in parts])
    return _sparse(X[kept], y=np.concatenate([y for _, y in parts])[kept], source=source[kept])


def reuters(train: bytes, test: bytes) -> Arrays:
    """Reuters-21578 as two packed files of svmlight text."""
    parts = [_svmlight(_bunzip2(content), 8_315) for content in (train, test)]
    split = np.repeat(np.array([0, 1], np.int8), [len(y) for _, y in parts])
    return _sparse(sparse.vstack([X for X, _ in parts]), y=np.concatenate([y for _, y in parts]), split=split)


def _svmlight(text: bytes, columns: int, zero_based: bool = False) -> tuple[sparse.csr_matrix, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(BytesIO(text), n_features=columns, zero_based=zero_based)
    return X, y.astype(np.int64)


def _sparse(matrix: sparse.spmatrix, **more: np.ndarray) -> Arrays:
    """Return the arrays that `scipy.sparse.load_npz` reads, and more."""
    X = sparse.csr_matrix(matrix, dtype=np.float64)
    return {
        "format": np.array(b"csr"),
        "shape": np.array(X.shape, np.int64),
        "data": X.data,
        "indices": X.indices.astype(np.int32),
        "indptr": X.indptr.astype(np.int32),
        **more,
    }


def _gunzip(content: bytes) -> bytes:
    return _unpacked(GzipFile(fileobj=BytesIO(content)))


def _bunzip2(content: bytes) -> bytes:
    return _unpacked(BZ2File(BytesIO(content)))


def _unpacked(file: IO[bytes] | BufferedIOBase) -> bytes:
    content = file.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise ValueError(f"unpacks to more than {LIMIT} bytes")
    return content
