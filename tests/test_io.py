"""Files as rows of numbers: every format there and back, without loading what is large, and nothing half written."""

import os
import pickle
import socket
import subprocess
import sys
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA as ScikitPCA

from kernelpca import KernelPCA, open_data
from kernelpca.features import Nystrom
from kernelpca.io import Computed, Table, write_data
from kernelpca.io.csv import Csv
from kernelpca.io.protocol import BadFile
from kernelpca.io.reading import FORMATS, reader_of, unread

X = np.round(load_digits(return_X_y=True)[0][:300, 10:18] / 16, 4)
NAMES = tuple("abcdefgh")
NEEDS = {".csv": "pyarrow", ".parquet": "pyarrow", ".h5": "h5py", ".zarr": "zarr", ".npy": "numpy", ".npz": "numpy"}
WITH_NAMES = (".npz", ".csv", ".parquet", ".h5", ".zarr")


@pytest.fixture(params=NEEDS)
def suffix(request):
    pytest.importorskip(NEEDS[request.param])
    return request.param


@pytest.fixture
def file(tmp_path, suffix):
    return write_data(tmp_path / f"rows{suffix}", X, columns=NAMES)


# there and back


def test_every_format_there_and_back(file, suffix):
    table = open_data(file)
    np.testing.assert_array_equal(np.asarray(table), X)
    assert table.shape == X.shape
    assert table.columns == (NAMES if suffix in WITH_NAMES else None)
    assert table.dtype == np.float64
    assert len(table) == 300
    assert not table.is_lazy
    np.testing.assert_array_equal(table[3:5], X[3:5])


def test_precision_is_kept(tmp_path, suffix):
    path = write_data(tmp_path / f"single{suffix}", X.astype(np.float32))
    values = np.asarray(open_data(path))
    assert values.dtype == (np.float64 if suffix == ".csv" else np.float32)
    np.testing.assert_array_equal(values.astype(np.float32), X.astype(np.float32))


def test_some_columns(file, suffix):
    wanted = ["c", "a"] if suffix in WITH_NAMES else [2, 0]
    table = open_data(file, columns=wanted)
    np.testing.assert_array_equal(np.asarray(table), X[:, [2, 0]])
    assert table.columns == (("c", "a") if suffix in WITH_NAMES else None)
    np.testing.assert_array_equal(np.asarray(open_data(file, columns=[-1])), X[:, [-1]])


def test_one_number_for_each_row(tmp_path, suffix):
    path = write_data(tmp_path / f"scores{suffix}", X[:, 0])
    np.testing.assert_array_equal(np.asarray(open_data(path))[:, 0], X[:, 0])


def test_npy_is_mapped_into_memory(tmp_path):
    table = open_data(write_data(tmp_path / "rows.npy", X))
    assert isinstance(table.values, np.memmap)
    KernelPCA(2, approximation=Nystrom(20)).fit(table)


def test_estimators_take_tables(tmp_path):
    pytest.importorskip("pyarrow")
    table = open_data(write_data(tmp_path / "rows.csv", X, columns=NAMES))
    model = KernelPCA(2).fit(table)
    assert tuple(model.feature_names_in_) == NAMES
    np.testing.assert_allclose(model.transform(table), KernelPCA(2).fit(X).transform(X))
    other = open_data(tmp_path / "rows.csv", columns=NAMES[::-1])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(other)
    assert ScikitPCA(2).fit_transform(table).shape == (300, 2)
    assert not hasattr(KernelPCA(2).fit(Table(X)), "feature_names_in_")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_text_in_other_forms(tmp_path, mark, end):
    pytest.importorskip("pyarrow")
    line = end or "\n"
    path = tmp_path / "rows.csv"
    path.write_bytes(("﻿x" + mark + '"y z"' + line + f"1{mark}2{line}3{mark}{end and line}").encode())
    if not end:
        path.write_bytes(path.read_bytes() + b"4")
    table = open_data(path)
    assert table.columns == ("x", "y z")
    np.testing.assert_array_equal(np.asarray(table), [[1, 2], [3, 4 if not end else np.nan]])


def test_text_without_names(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    path.write_text("2,1\n3,NA\n5,6\n")
    table = open_data(path)
    assert table.columns is None
    np.testing.assert_array_equal(np.asarray(table), [[2, 1], [3, np.nan], [5, 6]])


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("NA,1\n5,6\n", None, [[np.nan, 1], [5, 6]]),
        ("true,false\ntrue,true\n", None, [[1, 0], [1, 1]]),
        ('"0","1"\n5,6\n', ("0", "1"), [[5, 6]]),
        ("a,b\n1,2\n\n3,4\n\n\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("a,b\r\n1,2\r\n\r\n3,4\r\n\r\n", ("a", "b"), [[1, 2], [3, 4]]),
        ("a\n1\n\n2\n", ("a",), [[1], [2]]),
        ("1e-3,-2E5\n3,4", None, [[1e-3, -2e5], [3, 4]]),
        ('"length, cm";"a ""b"""; c\n1;2;3\n', ("length, cm", 'a "b"', "c"), [[1, 2, 3]]),
        ('"a;b;c;d","e"\n1,2\n', ("a;b;c;d", "e"), [[1, 2]]),
        ('5" pipe,6" pipe\n1,2\n', ('5" pipe', '6" pipe'), [[1, 2]]),
        ("0\n1\n", None, [[0], [1]]),
        ("0,1,3\n1,2,4\n", None, [[0, 1, 3], [1, 2, 4]]),
    ],
)
def test_what_lines_mean(tmp_path, monkeypatch, text, names, rows):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("kernelpca.io.csv.STEP", 3)
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())
    table = open_data(path)
    assert table.columns == names
    np.testing.assert_array_equal(np.asarray(table), rows)


def test_whether_there_are_names_can_be_said(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    path.write_text("0,1\n5,6\n")
    assert open_data(path, header=False).columns is None
    assert open_data(path, header=True).columns == ("0", "1")
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match="no rows"):
        open_data(path)


@pytest.mark.parametrize(("first", "index"), [(0, False), (1, False), (0, True)])
def test_numbers_of_columns_are_no_row(tmp_path, first, index):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    pd.DataFrame(X).rename(columns=lambda i: i + first).to_csv(path, index=index)
    with warnings.catch_warnings(record=True, action="always") as told:
        table = open_data(path)
    begins = f"{path} begins with {',' * index}{first},{first + 1},"
    assert [str(one.message).startswith(begins) for one in told] == [True, False][: 1 + index]
    assert table.shape == (300, 8 + index)
    np.testing.assert_array_equal(np.asarray(table)[:, index:], X)
    assert len(open_data(path, header=True, columns=[str(first)])) == 300


def test_a_column_without_a_name(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=NAMES).to_csv(path)
    with pytest.warns(UserWarning, match="a column without a name, column 0 counted from 0"):
        assert open_data(path).columns == ("", *NAMES)
    np.testing.assert_array_equal(np.asarray(open_data(path, columns=NAMES)), X)


@pytest.mark.parametrize("rows", [[[0, 1, 2], [3, 4, 5]], [[1, 2], [1, 2]], [[0.0, 1], [2, 3]], [[True, False]]])
def test_a_row_that_counts_is_written_so_that_it_stays_one(tmp_path, rows):
    pytest.importorskip("pyarrow")
    table = open_data(write_data(tmp_path / "rows.csv", np.array(rows)))
    assert table.columns is None
    np.testing.assert_array_equal(np.asarray(table), rows)


@pytest.mark.parametrize("suffix", WITH_NAMES)
def test_a_name_that_stands_for_two_columns(tmp_path, suffix):
    pytest.importorskip(NEEDS[suffix])
    path = write_data(tmp_path / f"rows{suffix}", X[:, :3], columns=["a", "b", "a"])
    for wanted in (None, ["b", "a"]):
        with pytest.raises(ValueError, match=r"2 columns named 'a' \(columns 0 and 2, counted from 0\)"):
            open_data(path, columns=wanted)
    if suffix != ".parquet":
        np.testing.assert_array_equal(np.asarray(open_data(path, columns=["b", 2])), X[:, [1, 2]])


def test_names_with_commas_there_and_back(tmp_path):
    pytest.importorskip("pyarrow")
    names = ("a,b", 'c "d", e', "f;g;h")
    assert open_data(write_data(tmp_path / "rows.csv", X[:, :3], columns=names)).columns == names


def test_other_columns_of_a_parquet_file_may_hold_text(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=NAMES).assign(kind="x").to_parquet(path)
    assert unread(path).file_columns == (*NAMES, "kind")
    np.testing.assert_array_equal(np.asarray(open_data(path, columns=NAMES)), X)
    with pytest.raises(ValueError, match="no numbers: kind"):
        open_data(path)


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_another_coding(tmp_path, coding):
    path = tmp_path / "rows.csv"
    path.write_bytes("a,b\n1,2\n".encode(coding))
    with pytest.raises(ValueError, match=r"no text in UTF-8; it looks like UTF-16. Convert it: iconv"):
        open_data(path)


def test_names_and_truth_values_there_and_back(tmp_path):
    pytest.importorskip("pyarrow")
    path = write_data(tmp_path / "rows.csv", X, columns=[str(i) for i in range(8)])
    assert open_data(path).shape == X.shape
    path = write_data(tmp_path / "truth.csv", X > 0.5)
    np.testing.assert_array_equal(np.asarray(open_data(path)), X > 0.5)


def test_types_of_all_parquet_files_count(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    write_data(folder / "1.parquet", X.astype(np.float32))
    write_data(folder / "2.parquet", X + 1e-12)
    np.testing.assert_array_equal(np.asarray(open_data(folder))[300:], X + 1e-12)


def test_a_folder_of_parquet_files(tmp_path):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "rows.parquet"
    folder.mkdir()
    write_data(folder / "1.parquet", X[:100], columns=NAMES)
    write_data(folder / "2.parquet", X[100:], columns=NAMES)
    np.testing.assert_array_equal(np.asarray(open_data(folder)), X)
    write_data(folder / "3.parquet", X[:5], columns=NAMES[::-1])
    with pytest.raises(ValueError, match="other columns"):
        open_data(folder)


def test_which_array(tmp_path):
    path = tmp_path / "rows.npz"
    np.savez(path, X=X, y=X[:, 0])
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    np.savez(path, X=X, Y=X)
    with pytest.raises(ValueError, match=r"2 arrays of rows: X, Y. Choose one with key="):
        open_data(path)
    np.testing.assert_array_equal(np.asarray(open_data(path, key="Y")), X)
    with pytest.raises(ValueError, match="no array 'Z'; it has X, Y"):
        open_data(path, key="Z")


def test_an_array_within_groups_of_a_zarr_store(tmp_path):
    zarr = pytest.importorskip("zarr")
    root = zarr.open_group(str(tmp_path / "rows.zarr"), mode="w")
    deep = root.create_group("day").create_group("hour")
    deep.create_array("X", shape=X.shape, dtype=X.dtype, chunks=(100, X.shape[1]))[:] = X
    np.testing.assert_array_equal(np.asarray(open_data(tmp_path / "rows.zarr")), X)
    np.testing.assert_array_equal(np.asarray(open_data(tmp_path / "rows.zarr", key="day/hour/X")), X)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet", ".zarr"])
def test_a_key_where_there_is_one_table(tmp_path, suffix):
    pytest.importorskip(NEEDS[suffix])
    path = write_data(tmp_path / f"rows{suffix}", X)
    with pytest.raises(ValueError, match="key='X' names nothing in it: leave key out"):
        open_data(path, key="X")


# files that are not loaded


def test_any_rows_of_a_file(file, monkeypatch):
    monkeypatch.setattr("kernelpca.io.csv.STEP", 1000)
    reader = pickle.loads(pickle.dumps(reader_of(file, [3, 1])))
    for start, stop in [(0, 300), (0, 1), (299, 300), (17, 123), (5, 5)]:
        np.testing.assert_array_equal(reader.read(start, stop), X[start:stop][:, [3, 1]])


def test_files_as_dask_arrays(file):
    pytest.importorskip("dask.array")
    table = open_data(file, chunks=77)
    assert table.is_lazy
    assert table.values.chunks == ((77, 77, 77, 69), (8,))
    np.testing.assert_array_equal(np.asarray(table), X)
    model = KernelPCA(2, approximation=Nystrom(30)).fit(table)
    np.testing.assert_allclose(model.transform(table).compute(), model.transform(open_data(file)), atol=1e-12)


def test_large_files_are_dask_arrays(file, suffix):
    pytest.importorskip("dask.array")
    if suffix == ".npy":
        assert not open_data(file, memory_limit=1000).is_lazy
    else:
        assert open_data(file, memory_limit=1000).is_lazy


def test_reading_tells_how_far_it_is(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("kernelpca.io.protocol.BLOCK", 8 * X.shape[1] * 100)
    monkeypatch.setattr("kernelpca.io.csv.STEP", 5000)
    path, told = write_data(tmp_path / f"rows{suffix}", X), []
    table = open_data(path, done=lambda *state: told.append(state))
    np.testing.assert_array_equal(np.asarray(table), X)
    total = len(told)
    assert told == [(i + 1, total) for i in range(total)]
    assert (total > 1) == (suffix not in (".npy", ".parquet", ".zarr"))  # mapped; stored in one piece


def test_a_column_that_begins_with_zero_may_have_that_as_its_name(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0\n0.5\n1.5\n")
    with pytest.warns(UserWarning, match=r"begins with 0.*header=True"):
        assert open_data(path).shape == (3, 1)
    assert open_data(path, header=True).columns == ("0",)
    assert open_data(path, header=False).shape == (3, 1)
    path.write_text("0\n1\n2\n")
    assert open_data(path).shape == (3, 1)


# writing


def test_dask_arrays_are_written_a_few_chunks_at_a_time(tmp_path, suffix):
    da = pytest.importorskip("dask.array")
    seen = []
    path = write_data(
        tmp_path / f"rows{suffix}", da.from_array(X, chunks=(70, -1)), done=lambda done, all_: seen.append((done, all_))
    )
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    assert seen == 2 * [(i + 1, 5) for i in range(5)]  # worked out, then written
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


class Interrupted(Exception):
    pass


def blocks_beside(path):
    """Return the folder in which an interrupted run has left its blocks."""
    (folder,) = path.parent.glob(f".{path.name}.*.blocks")
    return folder


def test_an_interrupted_run_goes_on(tmp_path, suffix):
    da = pytest.importorskip("dask.array")
    computed = []

    def rows(broken):
        def block(part, block_info=None):
            number = block_info[0]["chunk-location"][0]
            computed.append(number)
            if broken and number == 3:
                raise Interrupted
            return part

        return da.from_array(X, chunks=(70, -1)).map_blocks(block, dtype=X.dtype, meta=np.empty((0, 0)))

    path = tmp_path / f"rows{suffix}"
    with pytest.raises(Interrupted):
        write_data(path, rows(True), key="model and data")
    assert not path.exists()
    finished = len(list(blocks_beside(path).glob("*.npy")))
    assert finished >= 2
    computed.clear()
    write_data(path, rows(False), key="model and data")
    assert sorted(computed) == list(range(finished, 5))
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_finished_blocks_of_another_form_are_not_used(tmp_path, suffix):
    da = pytest.importorskip("dask.array")
    path = tmp_path / f"rows{suffix}"

    def stop(done, _):
        if done == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        write_data(path, da.from_array(X, chunks=(100, -1)), key="k", done=stop)
    write_data(path, da.from_array(X, chunks=(50, -1)), key="k")
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)


def test_unknown_lengths_are_refused(tmp_path):
    da = pytest.importorskip("dask.array")
    array = da.from_array(X, chunks=(100, -1))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        write_data(tmp_path / "rows.npy", array[array[:, 0] >= 0])
    with pytest.raises(ValueError, match="no rows"):
        write_data(tmp_path / "rows.npy", X[:0])
    with pytest.raises(ValueError, match="Rows of numbers"):
        write_data(tmp_path / "rows.npy", [["a"]])
    assert list(tmp_path.iterdir()) == []


def test_another_key_begins_anew(tmp_path):
    def stop(*_):
        raise Interrupted

    path = tmp_path / "rows.npy"
    with pytest.raises(Interrupted):
        write_data(path, -X, key="another", done=stop)
    assert blocks_beside(path).is_dir()
    write_data(path, X, key="mine")
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    assert [entry.name for entry in tmp_path.iterdir()] == ["rows.npy"]


def test_a_file_that_is_there_stays_until_the_new_one_is_whole(tmp_path, suffix):
    path = write_data(tmp_path / f"rows{suffix}", X)
    with pytest.raises(FileExistsError, match="force=True"):
        write_data(path, -X)
    da = pytest.importorskip("dask.array")
    broken = da.from_array(X, chunks=(70, -1)).map_blocks(lambda part: 1 / 0, dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(ZeroDivisionError):
        write_data(path, broken, force=True)
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    write_data(path, -X, force=True)
    np.testing.assert_array_equal(np.asarray(open_data(path)), -X)


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_data(tmp_path / "rows.npy", X)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kernelpca.atomic.os.fsync", full)
    with pytest.raises(OSError, match=r"rows.npy was not written: No space left on device. What was there") as told:
        write_data(path, -X, force=True)
    assert told.value.errno == 28
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@contextmanager
def files_of_at_most(size):
    """Let no file grow beyond so many bytes, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [1000, 19000])  # less than a block, or than the file
def test_a_run_on_a_full_disk_goes_on(tmp_path, suffix, size):
    values, path = np.random.default_rng(0).normal(size=(1160, 8)), tmp_path / f"rows{suffix}"
    rows, computed = Computed(lambda part: computed.append(len(part)) or part, values, 290), []
    says = r"rows\..* was not written: .* kept in .*\.blocks: the same"
    with pytest.raises(OSError, match=says), files_of_at_most(size):
        write_data(path, rows, key="k")
    assert not path.exists()
    computed.clear()
    write_data(path, rows, key="k")
    assert computed == ([1] if size > 1000 else [1, 290, 290, 290, 290])  # the first row for its type, and blocks
    np.testing.assert_array_equal(np.asarray(open_data(path)), values)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_is_met_before_hdf5_is(tmp_path, monkeypatch):
    """HDF5 that fails to close a file ends the process at a later one."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "rows.h5"
    write_data(path, X)
    monkeypatch.setattr(h5py, "File", None)
    with pytest.raises(OSError, match=r"rows\.h5 was not written: File too large"), files_of_at_most(X.nbytes):
        write_data(path, X, force=True)


@pytest.mark.parametrize("columns", [1, 9000])
def test_room_asked_for_is_that_of_an_hdf5_file_with_its_names(tmp_path, monkeypatch, columns):
    pytest.importorskip("h5py")
    asked = []
    monkeypatch.setattr("kernelpca.io.writing._check_room", lambda path, size: asked.append(size))
    names, values = [f"column number {i}" for i in range(columns)], np.arange(2.0 * columns).reshape(2, columns)
    path = write_data(tmp_path / "wide.h5", values, columns=names)
    assert path.stat().st_size <= asked[0] <= 2**17 + 4 * path.stat().st_size
    table = open_data(path)
    assert list(table.columns) == names
    np.testing.assert_array_equal(np.asarray(table), values)


def test_a_block_that_is_cut_is_computed_again(tmp_path):
    path, computed = tmp_path / "rows.npy", []

    def stop(done, _):
        if done == 3:
            raise Interrupted

    def block(part):
        computed.append(len(part))
        return part

    with pytest.raises(Interrupted):
        write_data(path, Computed(block, X, 100), key="k", done=stop)
    cut = blocks_beside(path) / "00000001.npy"
    cut.write_bytes(cut.read_bytes()[:-8])
    computed.clear()
    write_data(path, Computed(block, X, 100), key="k")
    assert computed == [1, 100]  # the first row for its type, and the block
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)


def test_folders_are_not_replaced(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    path.mkdir()
    (path / "notes.txt").write_text("keep")
    with pytest.raises(IsADirectoryError, match=r"rows\..* is a folder"):
        write_data(path, X, force=True)
    assert (path / "notes.txt").read_text() == "keep"


KILLED = """
    import os, sys
    import numpy as np
    from pathlib import Path
    from kernelpca.io import write_data
    path, replace = Path(sys.argv[1]), Path.replace
    def killed(self, target):
        if Path(target) == path:
            os._exit(9)
        return replace(self, target)
    Path.replace = killed
    write_data(path, np.zeros((5, 8)), key=sys.argv[2] or None, force=True)
"""


@pytest.mark.parametrize("key", ["", "k"])
def test_a_store_that_is_replaced_is_never_gone(tmp_path, monkeypatch, key):
    pytest.importorskip("zarr")
    path = write_data(tmp_path / "rows.zarr", X)
    replace = Path.replace

    def interrupted(self, target):
        if Path(target) == path:
            assert not path.exists()
            raise Interrupted
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(Interrupted):
            write_data(path, -X, force=True)
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), key]
    assert subprocess.run(command).returncode == 9  # while the old one is put aside
    assert not path.exists()

    def stop(*_):
        raise Interrupted

    with pytest.raises(Interrupted):
        write_data(path, -X, done=stop)
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)  # brought back before anything else
    write_data(path, 2 * X, force=True)
    np.testing.assert_array_equal(np.asarray(open_data(path)), 2 * X)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


# bad input


def test_a_file_that_is_not_there(tmp_path):
    write_data(tmp_path / "rows.npy", X)
    with pytest.raises(FileNotFoundError, match=r"does not exist. In its folder: rows.npy"):
        open_data(tmp_path / "row.npy")
    with pytest.raises(ValueError, match=r"end in '.xls' cannot be opened. Formats: .npy"):
        open_data(tmp_path / "rows.xls")
    with pytest.raises(ValueError, match="cannot be written"):
        write_data(tmp_path / "rows.xls", X)
    with pytest.raises(FileNotFoundError, match="make it first"):
        write_data(tmp_path / "folder" / "rows.npy", X)
    with pytest.raises(ValueError, match="7 names for 8 columns"):
        write_data(tmp_path / "named.npy", X, columns=NAMES[:7])


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and sockets of POSIX")
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("other", ["named pipe", "socket", "device", "folder"])
def test_what_is_no_file_is_refused_without_opening_it(tmp_path, kind, other, monkeypatch):
    """Whoever opens a pipe waits for its other end; a test that hangs has failed."""
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    monkeypatch.chdir(tmp_path)  # names of sockets must be short
    path = Path(f"rows{kind}")
    with socket.socket(socket.AF_UNIX) as end:
        if other == "named pipe":
            os.mkfifo(path)
        elif other == "socket":
            end.bind(str(path))
        elif other == "device":
            path.symlink_to("/dev/zero")
        elif kind == ".parquet":
            path.mkdir()
            os.mkfifo(path / "part.parquet")
        else:
            path.mkdir()
        says = "is no zarr store" if (kind, other) == (".zarr", "folder") else "is one file. (Give|Save)"
        with pytest.raises(BadFile, match=rf"rows\{kind}.*{says}"):
            open_data(path)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_pipes_are_not_replaced(tmp_path, suffix):
    path = tmp_path / f"rows{suffix}"
    os.mkfifo(path)
    with pytest.raises(OSError, match=r"rows\..* is a named pipe, and only files are replaced"):
        write_data(path, X, force=True)
    assert path.is_fifo()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", FORMATS)
def test_files_that_are_something_else(tmp_path, kind):
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    path = tmp_path / f"rows{kind}"
    path.write_bytes(b"\x00\x01 this is no table \xff\xfe\n" * 50)
    with pytest.raises((ValueError, UnicodeDecodeError), match=r"rows\."):
        np.asarray(open_data(path))


def test_text_columns_are_named(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    path.write_text("size,name,weight,kind\n1,ann,2,x\n3,bob,4,y\n")
    with pytest.raises(ValueError, match=r"no numbers: name, kind. Choose others with columns=\['size', 'weight'\]"):
        open_data(path)
    assert open_data(path, columns=["size", "weight"]).shape == (2, 2)
    with pytest.raises(ValueError, match="no column 'height'; it has size, name, weight, kind"):
        open_data(path, columns=["height"])
    with pytest.raises(TypeError, match=r"give a list, \['size'\]"):
        open_data(path, columns="size")


def test_lines_of_different_lengths(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"cannot be read from row 0 on"):
        open_data(path)


def test_empty_files(tmp_path):
    (tmp_path / "rows.csv").write_text("")
    with pytest.raises(ValueError, match="is empty"):
        open_data(tmp_path / "rows.csv")
    np.save(tmp_path / "rows.npy", np.empty((0, 3)))
    with pytest.raises(ValueError, match="nothing to work on"):
        open_data(tmp_path / "rows.npy")
    np.save(tmp_path / "cube.npy", np.empty((2, 3, 4)))
    with pytest.raises(ValueError, match="3 dimensions"):
        open_data(tmp_path / "cube.npy")
    np.save(tmp_path / "text.npy", np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="numbers are needed"):
        open_data(tmp_path / "text.npy")
    np.save(tmp_path / "good.npy", X)
    with pytest.raises(ValueError, match="chunks=0"):
        open_data(tmp_path / "good.npy", chunks=0)


def test_pickles_are_not_opened(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="NumPy's format"):
        open_data(tmp_path / "rows.npy")


def test_the_index_of_lines_goes_along(tmp_path):
    pytest.importorskip("pyarrow")
    path = write_data(tmp_path / "rows.csv", X, columns=NAMES)
    reader = reader_of(path)
    assert isinstance(reader, Csv)
    assert reader.edges[-1] == 300
    assert pickle.loads(pickle.dumps(reader)).index == reader.index


# two at once, links and permissions


def test_two_processes_do_not_write_one_file(tmp_path):
    """The second is told so, and what the first writes is whole."""
    pytest.importorskip("fcntl")
    path = tmp_path / "x.npy"
    code = (
        "import sys, time, numpy as np\n"
        "from kernelpca.io import Computed, write_data\n"
        "def slow(rows):\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    return rows\n"
        "write_data(sys.argv[1], Computed(slow, np.ones((3, 2)), 3), key='a')\n"
    )
    first = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout.readline() == "begun\n"  # what the first row becomes is looked at before
        first.stdin.write("\n")
        first.stdin.flush()
        assert first.stdout.readline() == "begun\n"
        with pytest.raises(OSError, match="another process is writing it: wait for that, or give another name") as told:
            write_data(path, np.zeros((3, 2)), key="b")
        assert "Finished blocks" not in str(told.value)
        first.stdin.write("\n")
        first.stdin.close()
        assert first.wait(60) == 0
    finally:
        first.kill()
        first.stdout.close()
    np.testing.assert_array_equal(np.load(path), np.ones((3, 2)))
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.npy"]
    write_data(path, np.zeros((3, 2)), key="b", force=True)
    assert not np.load(path).any()


def test_permissions_and_links_stay(tmp_path, suffix):
    pytest.importorskip(NEEDS[suffix])
    real, link = tmp_path / f"real{suffix}", tmp_path / f"link{suffix}"
    write_data(real, X)
    link.symlink_to(real)
    if real.is_file():
        real.chmod(0o600)
    write_data(link, X + 1, force=True)
    assert link.is_symlink()
    np.testing.assert_array_equal(np.asarray(open_data(real)), X + 1)
    if real.is_file():
        assert real.stat().st_mode & 0o777 == 0o600


def test_blocks_are_not_kept_after_an_error_of_the_data(tmp_path):
    def fail(rows):
        if rows[0, 0] == X[100, 0]:
            raise ValueError("no number")
        return rows

    with pytest.raises(ValueError, match="no number"):
        write_data(tmp_path / "x.npy", Computed(fail, X, 100), key="k")
    assert not list(tmp_path.iterdir())


def test_the_index_of_a_data_frame_is_no_column(tmp_path):
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    path, frame = tmp_path / "x.parquet", pd.DataFrame(X[:, :3], columns=list("abc"))
    frame[frame.a > frame.a.median()].to_parquet(path)
    assert open_data(path).columns == ("a", "b", "c")
    frame.set_index("a").to_parquet(path)  # which has a name, and may be meant
    assert set(open_data(path).columns) == {"a", "b", "c"}


@pytest.mark.parametrize("columns", [70_000, 150_000])
def test_long_lines(tmp_path, columns):
    pytest.importorskip("pyarrow")
    wide = np.arange(3 * columns).reshape(3, columns) + 0.123456789012
    path = write_data(tmp_path / "wide.csv", wide)
    assert path.stat().st_size > 3 * 2**20
    np.testing.assert_array_equal(np.asarray(open_data(path)), wide)


@pytest.mark.parametrize(("names", "told"), [([b"a", b"b"], ("a", "b")), (["a"], "1 name for 2 columns"), (3, "names")])
def test_names_in_hdf5_files(tmp_path, names, told):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X[:, :2]
        file["X"].attrs["columns"] = names
    if isinstance(told, tuple):
        assert open_data(path).columns == told
    else:
        with pytest.raises(ValueError, match=told):
            open_data(path)


@pytest.mark.parametrize(
    ("header", "mark", "says"),
    [
        (True, ";", r"Cells such as 2,43 look like .* decimal comma.*read_csv\('rows.csv', sep=';', decimal=','\)"),
        (False, ";", r"Cells such as 7;2 look like .* decimal comma.*sep=';', decimal=','\)"),
        (True, "\t", r"Cells such as 2,43 .*sep='\\t', decimal=','\)"),
    ],
)
def test_decimal_commas(tmp_path, header, mark, says):
    pytest.importorskip("pyarrow")
    lines = [["2,43", "1,5", "x"], ["2,44", "3", "y"], ["5,7", "2,8", "z"]]
    if not header:
        lines = [["1,5", "2,5", "3,5"], ["4,7", "2,8", "3,5"]]
    text = "\n".join(mark.join(line) for line in [["a", "b", "c"]] * header + lines)
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(ValueError, match=says) as caught:
        open_data(tmp_path / "rows.csv")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("rows.xlsx", "save it as CSV"),
        ("rows.csv.gz", "unpack it first"),
        ("rows.zip", "unpack it first"),
        ("model.kpca", "It is a model by its name"),
        ("empty.csv", "look at what wrote it"),
    ],
)
def test_what_to_do_with_other_files(tmp_path, name, says):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match=says):
        open_data(tmp_path / name)


def test_images_are_made_rows(tmp_path):
    np.save(tmp_path / "images.npy", np.zeros((10, 4, 4)))
    with pytest.raises(ValueError, match=r"3 dimensions, shape \(10, 4, 4\).*X.reshape\(len\(X\), -1\)"):
        open_data(tmp_path / "images.npy")
    says = r"images of shape \(10, 4, 4\), y of shape \(10,\).*X.reshape\(len\(X\), -1\)"
    np.savez(tmp_path / "images.npz", images=np.zeros((10, 4, 4)), y=np.zeros(10))
    with pytest.raises(ValueError, match=says):
        open_data(tmp_path / "images.npz")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "images.h5", "w") as file:
        file["images"], file["y"] = np.zeros((10, 4, 4)), np.zeros(10)
    with pytest.raises(ValueError, match=says):
        open_data(tmp_path / "images.h5")


@pytest.mark.parametrize("form", ["csr", "coo"])
def test_files_of_sparse_matrices(tmp_path, form):
    sparse.save_npz(tmp_path / "rows.npz", sparse.random_array((10, 5), density=0.5, format=form))
    with pytest.raises(ValueError, match=r"is a sparse matrix.*scipy.sparse.load_npz\(.*X.toarray\(\)"):
        open_data(tmp_path / "rows.npz")


def test_a_table_prints_as_one_line(tmp_path):
    path = write_data(tmp_path / "rows.npz", X, columns=NAMES)
    assert repr(open_data(path)) == f"Table(300 x 8, float64, columns a, b, c, d, e, ..., from {path})"
    assert repr(Table(X[:, :2].astype(np.float32))) == "Table(300 x 2, float32)"
    pytest.importorskip("dask")
    assert "300 x 8, float64, not read yet, columns a" in repr(open_data(path, chunks=100))


def test_damaged_rows_name_their_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=np.ones((2000, 8)), compression="gzip", chunks=(100, 8))
    content = bytearray(path.read_bytes())
    content[-400:-100] = b"\xff" * 300
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.h5 is (damaged: rows|no HDF5 file)"):
        open_data(path)


def test_an_archive_with_other_things_beside_the_rows(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=X, about=np.array([{"a": 1}], dtype=object))
    np.testing.assert_array_equal(np.asarray(open_data(path)), X)


def test_a_header_that_is_no_utf8(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"looks like Latin-1.*iconv"):
        open_data(path)
