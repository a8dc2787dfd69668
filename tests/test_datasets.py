"""Data files are found, checked, and downloaded from sources that give the very same arrays; what is wrong says so."""

import bz2
import gzip
import hashlib
import io
import logging
import tarfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest
from scipy import io as matlab
from scipy import sparse

from kernelpca import datasets
from kernelpca.datasets import CorruptedData, DataError, MissingData, convert, download, find
from kernelpca.datasets.catalogue import FILES, DataFile, Source
from kernelpca.datasets.digest import digest_of_arrays, digest_of_file, read_arrays
from real_data import path_of

# ------------------------------------------------------------------ a small data set, its source, and a server here

ARRAYS = {"x": np.arange(12, dtype=np.uint8).reshape(3, 4), "name": np.array("three")}
NAME = "small.npz"


def small(raw):
    """The converter of the small data set."""
    return {"x": np.frombuffer(gzip.decompress(raw), np.uint8).reshape(3, 4), "name": np.array("three")}


RAW = gzip.compress(bytes(range(12)))


class Answers(BaseHTTPRequestHandler):
    """Answers by path: a recipe each."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/silent":
            time.sleep(1)
        elif self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "http://example.invalid/right")
            self.end_headers()
        elif self.path in ("/right", "/other", "/noise", "/short"):
            body = {"/other": gzip.compress(bytes(12)), "/noise": b"<html>no such page</html>"}.get(self.path, RAW)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:10] if self.path == "/short" else body)
        else:
            self.send_error(404)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of our own, downloads allowed, and no host unreachable yet."""
    monkeypatch.setattr(download, "_unreachable", {})
    monkeypatch.delenv("KERNELPCA_OFFLINE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernelpca"


@pytest.fixture
def folders(tmp_path, monkeypatch, cache):
    """A folder of data of our own, and the cache."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("KERNELPCA_DATA", str(folder))
    return folder, cache


@pytest.fixture
def offer(server, folders, monkeypatch):
    """Put the small data set into the catalogue, with sources here."""

    def offer(*paths, **changes):
        port = server.server_address[1]
        sources = tuple(Source((f"http://127.0.0.1:{port}{path}",), small) for path in paths)
        file = DataFile(NAME, "0" * 64, digest_of_arrays(ARRAYS), "x, name", "counting to twelve", sources)
        monkeypatch.setitem(FILES, NAME, replace(file, **changes))
        return server

    return offer


def files_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# ------------------------------------------------------------------ found and checked


@pytest.mark.parametrize("place", [0, 1])
def test_found_in_the_folder_or_in_the_cache(offer, folders, place):
    server = offer("/right")
    folder = folders[place]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / NAME, **ARRAYS)
    assert find(NAME) == folder / NAME
    assert server.asked == []


def test_the_folder_comes_before_the_cache(offer, folders):
    offer("/right")
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / NAME, **ARRAYS)
    assert find(NAME).parent == folders[0]


def test_a_file_is_right_by_its_bytes_or_by_its_arrays(offer, folders):
    path = folders[0] / NAME
    np.savez_compressed(path, **dict(reversed(ARRAYS.items())))
    offer("/right")
    assert find(NAME) == path  # other packing, other order, same arrays
    path.write_bytes(b"no arrays at all")
    offer("/right", sha256=digest_of_file(path))
    assert find(NAME) == path


def test_a_corrupted_file_is_refused_with_both_digests(offer, folders):
    path = folders[0] / NAME
    np.savez(path, **ARRAYS)
    broken = bytearray(path.read_bytes())
    broken[len(broken) // 3] ^= 1
    path.write_bytes(broken)
    server = offer("/right")
    with pytest.raises(CorruptedData, match="sha256") as caught:
        find(NAME)
    for part in (str(path), digest_of_file(path), "0" * 64, "cannot be read", "Remove it"):
        assert part in str(caught.value)
    assert server.asked == []
    np.savez(path, **ARRAYS)  # a file that was changed is looked at again
    assert find(NAME) == path


def test_another_file_is_refused_with_the_digests_of_its_arrays(offer, folders):
    others = ARRAYS | {"x": ARRAYS["x"] + 1}
    np.savez(folders[0] / NAME, **others)
    offer("/right")
    with pytest.raises(CorruptedData, match=f"{digest_of_arrays(others)}, expected {digest_of_arrays(ARRAYS)}"):
        find(NAME)


def test_a_corrupted_file_of_the_cache_is_refused_too(offer, folders):
    offer("/right")
    find(NAME).write_bytes(b"cut off")
    with pytest.raises(CorruptedData, match="sha256"):
        find(NAME)


def test_a_file_that_was_checked_is_not_read_again(offer, folders, monkeypatch):
    np.savez(folders[0] / NAME, **ARRAYS)
    offer("/right")
    find(NAME)
    monkeypatch.setattr("kernelpca.datasets.files.digest_of_file", None)
    find(NAME)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"'digits'.*usps\.npz"):
        find("digits")


def test_the_digest_of_arrays_sees_everything_but_byte_order():
    a = np.arange(6.0)
    digests = {
        digest_of_arrays(arrays)
        for arrays in (
            {"a": a},
            {"b": a},
            {"a": a.astype(np.float32)},
            {"a": a.view(np.int64)},
            {"a": a.reshape(2, 3)},
            {"a": a + 1e-15},
            {"a": a, "b": a},
            {"a": np.array(b"csr")},
            {"a": np.array([b"csr"])},
        )
    }
    assert len(digests) == 9
    assert digest_of_arrays({"a": a.astype(">f8")}) == digest_of_arrays({"a": a})
    assert digest_of_arrays({"a": a.reshape(2, 3).T}) == digest_of_arrays({"a": a.reshape(2, 3).T.copy()})


# ------------------------------------------------------------------ missing


@pytest.mark.parametrize("way", ["argument", "variable"])
def test_downloads_can_be_switched_off(offer, folders, monkeypatch, way):
    server = offer("/right")
    if way == "variable":
        monkeypatch.setenv("KERNELPCA_OFFLINE", "1")
    with pytest.raises(MissingData, match="switched off") as caught:
        find(NAME, download=way == "variable")
    for part in (*map(str, folders), "counting to twelve", "/right", "By hand", "KERNELPCA_DATA"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.asked == []
    monkeypatch.setenv("KERNELPCA_OFFLINE", "0")
    assert find(NAME).exists()


def test_a_file_without_a_source_says_how_to_make_it(folders):
    with pytest.raises(MissingData, match=r"video decoder.*hands\.mp4.*KERNELPCA_DATA") as caught:
        find("hands_video.npz")
    assert isinstance(caught.value, FileNotFoundError)
    assert str(folders[0]) in str(caught.value)


def test_every_file_can_be_had_somehow():
    for file in FILES.values():
        assert bool(file.sources) != bool(file.by_hand)
        assert len(file.sha256) == 64
        assert len(file.arrays) == (0 if file.name.endswith(".h5") else 64)
        for source in file.sources:
            assert (source.convert is None) == (file.arrays == "")
            for address in source.addresses:
                parts = urlsplit(address)
                assert parts.scheme == "https"
                if parts.hostname == "raw.githubusercontent.com":  # pinned by a full commit
                    assert len(parts.path.split("/")[3]) == 40


# ------------------------------------------------------------------ downloads


def test_a_download_is_converted_checked_and_kept(offer, folders, caplog):
    server = offer("/right")
    with caplog.at_level(logging.INFO, "kernelpca"):
        path = find(NAME)
    assert path == folders[1] / NAME
    assert digest_of_arrays(read_arrays(path)) == digest_of_arrays(ARRAYS)
    assert "/right" in caplog.text
    assert find(NAME) == path
    assert server.asked == ["/right"]
    assert files_in(folders[1]) == [NAME]


def test_a_file_that_needs_no_conversion_is_kept_as_it_is(offer, folders, server):
    address = f"http://127.0.0.1:{server.server_address[1]}/right"
    offer(sources=(Source((address,)),), sha256=hashlib.sha256(RAW).hexdigest(), arrays="")
    assert find(NAME).read_bytes() == RAW
    offer(sources=(Source((address.replace("right", "other"),)),), sha256=hashlib.sha256(RAW).hexdigest(), arrays="")
    (folders[1] / NAME).unlink()
    with pytest.raises(MissingData, match=f"another.*expected {hashlib.sha256(RAW).hexdigest()}"):
        find(NAME)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/short", "broke off after 10 of"),
        ("/other", f"gave another small.npz: sha256 of the content .*, expected {digest_of_arrays(ARRAYS)}"),
        ("/noise", "cannot be read as small.npz .BadGzipFile"),
        ("/missing", "answered 404"),
        ("/silent", "could not be downloaded .*timed out"),
        ("/elsewhere", "example.invalid/right is refused: only https"),
    ],
)
def test_a_broken_download_says_so_and_leaves_nothing(offer, folders, monkeypatch, path, message):
    monkeypatch.setattr(download, "PATIENCE", 0.2)
    offer(path)
    with pytest.raises(MissingData, match=message) as caught:
        find(NAME)
    for part in (path, *map(str, folders), "By hand", "KERNELPCA_DATA"):
        assert part in str(caught.value)
    assert files_in(folders[1]) == []


def test_the_next_source_is_tried(offer, folders):
    server = offer("/other", "/missing", "/right")
    assert digest_of_arrays(read_arrays(find(NAME))) == digest_of_arrays(ARRAYS)
    assert server.asked == ["/other", "/missing", "/right"]


def test_a_download_has_limits(offer, folders, monkeypatch):
    offer("/right")
    monkeypatch.setattr(download, "DEADLINE", -1.0)
    with pytest.raises(MissingData, match="took more than"):
        find(NAME)
    monkeypatch.setattr(download, "LIMIT", 5)
    with pytest.raises(MissingData, match="more than 5 bytes"):
        find(NAME)
    assert files_in(folders[1]) == []


@pytest.mark.parametrize("address", ["http://example.invalid/a", "file:///etc/hostname", "ftp://127.0.0.1/a"])
def test_only_https_is_asked(address):
    with pytest.raises(download.DownloadError, match="only https"):
        download.fetch(address)


def test_a_machine_without_a_network_fails_at_once_and_asks_once(offer, folders, server, monkeypatch):
    asked = []

    def no_network(*args, **options):
        asked.append(args)
        raise OSError("Name or service not known")

    monkeypatch.setattr("socket.create_connection", no_network)
    offer("/right")
    for message in ("Name or service not known", "could not be reached a moment ago"):
        with pytest.raises(MissingData, match=message):
            find(NAME)
    assert len(asked) == 1
    monkeypatch.setattr(download, "MEMORY", 0.0)
    with pytest.raises(MissingData, match="Name or service"):
        find(NAME)


def test_a_cache_that_cannot_be_written_says_so(offer, folders):
    folders[1].parent.write_text("a file where the cache should be")
    offer("/right")
    with pytest.raises(MissingData, match="cannot be written"):
        find(NAME)


def test_many_may_ask_at_once(offer, folders):
    offer("/right")
    barrier = threading.Barrier(8)

    def ask(_):
        barrier.wait()
        return digest_of_arrays(read_arrays(find(NAME)))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {digest_of_arrays(ARRAYS)}
    assert files_in(folders[1]) == [NAME]


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(convert, "LIMIT", 1000)
    bomb = gzip.compress(bytes(2000))
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        convert.mnist(bomb, bomb, bomb, bomb)
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        convert.reuters(bz2.compress(bytes(2000)), b"")


# ------------------------------------------------------------------ sources give the very arrays of our files


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def lines(arrays, rows, number="{:.7e}", label="{} ", base=0, end="\n"):
    """Rows of a sparse matrix as text."""
    text = []
    for i in rows:
        span = slice(*arrays["indptr"][i : i + 2])
        entries = zip(arrays["indices"][span] + base, arrays["data"][span].tolist(), strict=True)
        pairs = " ".join(f"{column}:{number.format(value)}" for column, value in entries)
        text.append(label.format(arrays["y"][i]) + pairs + end)
    return "".join(text).encode()


def check(name, arrays):
    assert digest_of_arrays(arrays) == FILES[name].arrays


def test_digests_of_the_real_files():
    for name, file in FILES.items():
        path = path_of(name)
        assert digest_of_file(path) == file.sha256
        if file.arrays:
            check(name, read_arrays(path))
        assert find(name) == path


def test_usps_from_hdf5():
    h5py = pytest.importorskip("h5py")
    ours = read_arrays(path_of("usps.npz"))
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for part, rows in (("train", slice(7291)), ("test", slice(7291, None))):
            file[f"{part}/data"] = ours["X"][rows]
            file[f"{part}/target"] = ours["y"][rows].astype(np.int32)
    check("usps.npz", convert.usps_from_hdf5(content.getvalue()))


def test_usps_from_text():
    ours = read_arrays(path_of("usps.npz"))
    values = np.array([f"{i / 1000:.4f}" for i in range(-1000, 1001)])  # pixels have three decimals
    text = values[np.rint(2000 * ours["X"].astype(np.float64)).astype(int)]
    rows = [f"{digit}.0000 {' '.join(pixels)} \n" for digit, pixels in zip(ours["y"], text.tolist(), strict=True)]
    parts = ("".join(rows[:7291]), "".join(rows[7291:]))
    check("usps.npz", convert.usps_from_text(*(gzip.compress(part.encode(), 1) for part in parts)))


def test_mnist():
    known = {  # md5 of the unpacked files as published
        "x_train": "6bbc9ace898e44ae57da46a324031adb",
        "y_train": "a25bea736e30d166cdddb491f175f624",
        "x_test": "2646ac647ad5339dbf082846283269ea",
        "y_test": "27ae3e4e09519cfbb04c329615203637",
    }
    ours = read_arrays(path_of("mnist.npz"))
    raw = {
        k: bytes([0, 0, 8, ours[k].ndim]) + np.array(ours[k].shape, ">u4").tobytes() + ours[k].tobytes() for k in known
    }
    assert {k: hashlib.md5(v).hexdigest() for k, v in raw.items()} == known
    check("mnist.npz", convert.mnist(*(gzip.compress(raw[k], 1) for k in known)))
    with pytest.raises(ValueError, match="IDX"):
        convert.mnist(*[gzip.compress(b"\0\0\x0d\1" + bytes(8))] * 4)


def test_cifar10():
    ours = read_arrays(path_of("cifar10_test.npz"))
    batch = b"".join(
        bytes([label]) + image.transpose(2, 0, 1).tobytes()
        for label, image in zip(ours["labels"], ours["images"], strict=True)
    )
    assert len(batch) == 30_730_000
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for name, data in (("readme.html", b"text"), ("test_batch.bin", batch)):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    check("cifar10_test.npz", convert.cifar10_test(content.getvalue()))


def test_orl_faces():
    ours = read_arrays(path_of("orl_faces.npz"))
    most, last = {"faces-1/": b"", "faces-1/att_faces/s40/1.pgm": b"of somebody else"}, {"other-1/": b""}
    for image, subject, number in zip(ours["images"], ours["subject"], ours["image_no"], strict=True):
        content = b"P5\n92 112\n255\n" + image.tobytes()
        if subject < 40:
            most[f"faces-1/att_faces/s{subject}/{number}.pgm"] = content
        else:
            last[f"other-1/s40/{number}.pgm"] = content
    check("orl_faces.npz", convert.orl_faces(zipped(most), zipped(last)))


def test_protein():
    ours = read_arrays(path_of("protein_val.npz"))
    X = sparse.load_npz(path_of("protein_val.npz"))
    content = io.BytesIO()
    matlab.savemat(content, {"A": sparse.csc_matrix(X), "b": ours["y"][:, None].astype(float)})
    check("protein_val.npz", convert.protein_from_matlab(content.getvalue()))
    text = lines(ours, range(len(ours["y"])), "{:g}", "{}  ", base=1, end=" \n")
    check("protein_val.npz", convert.protein_from_svmlight(bz2.compress(text, 1)))


def test_rcv1():
    ours = read_arrays(path_of("rcv1_vw_subset.npz"))
    rows = {number: np.flatnonzero(ours["source"] == number).tolist() for number in (0, 2, 5)}
    rows[2].insert(
        100, 254
    )  # the public files have a row of the first in the second, and one of the second in the third
    rows[5].insert(300, 1044)
    windows = {0: "\r\n", 2: "\r\n", 5: "\n"}
    raw = [lines(ours, rows[number], label="{} |f ", end=windows[number]) for number in rows]
    assert [len(content) for content in raw] == [1_442_266, 364_283, 730_966]  # bytes of the public files
    check("rcv1_vw_subset.npz", convert.rcv1(*raw))


def test_reuters():
    ours = read_arrays(path_of("reuters_tick.npz"))
    parts = [np.flatnonzero(ours["split"] == part) for part in (0, 1)]
    raw = [bz2.compress(lines(ours, rows, "{!r}", base=1), 1) for rows in parts]
    check("reuters_tick.npz", convert.reuters(*raw))


# ------------------------------------------------------------------ loaders


@pytest.mark.parametrize(
    ("load", "file", "shape", "dtype", "low", "high"),
    [
        (datasets.load_usps, "usps.npz", (9298, 256), np.float64, 0, 1),
        (datasets.load_mnist, "mnist.npz", (60_000, 784), np.uint8, 0, 255),
        (datasets.load_orl, "orl_faces.npz", (400, 112, 92), np.uint8, 0, 251),
        (datasets.load_cifar10, "cifar10_test.npz", (10_000, 32, 32, 3), np.uint8, 0, 255),
    ],
)
def test_images_and_labels(load, file, shape, dtype, low, high):
    path_of(file)
    X, y = load()
    assert (X.shape, X.dtype, X.min(), X.max()) == (shape, dtype, low, high)
    assert y.shape == shape[:1]
    assert len(np.unique(y)) == (40 if file == "orl_faces.npz" else 10)
    X[0] = 1  # the caller's own
    assert not np.array_equal(load()[0][0], X[0])


def test_beats():
    pytest.importorskip("h5py")
    path_of("cpsc_normal_beats.h5")
    shapes = {recording: datasets.load_beats(recording).shape for recording in "abc"}
    assert shapes == {"a": (70, 512), "b": (62, 512), "c": (40, 512)}
    assert datasets.load_beats("c").dtype == np.float64


def test_hands():
    path_of("hands_video.npz")
    frames = datasets.load_hands()
    assert (frames.shape, frames.dtype, frames.min(), frames.max()) == ((123, 60, 80), np.uint8, 9, 255)


@pytest.mark.parametrize(
    ("load", "file", "shape", "nonzero"),
    [
        (datasets.load_protein, "protein_val.npz", (2871, 357), 280_241),
        (datasets.load_rcv1, "rcv1_vw_subset.npz", (1747, 47_236), 136_655),
        (datasets.load_reuters, "reuters_tick.npz", (11_069, 8_315), 476_658),
    ],
)
def test_sparse_sets(load, file, shape, nonzero):
    path_of(file)
    X = load()
    assert (X.format, X.shape, X.nnz, X.dtype) == ("csr", shape, nonzero, np.float64)
    assert X.min() == 0
    assert 0 < X.data.min() < X.data.max() <= 1
