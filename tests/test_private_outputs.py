"""Outputs while they are written: for nobody else to read, under names that nobody can guess, and not led astray."""

import os
import re
import shutil
import stat
import subprocess
import sys
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from kernelpca import KernelPCA, open_data
from kernelpca.atomic import writing_atomically
from kernelpca.datasets import download
from kernelpca.io import Computed, write_data
from kernelpca.pages import write_explorer
from kernelpca.persistence import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")

X = load_iris().data
NEEDS = {".csv": "pyarrow", ".parquet": "pyarrow", ".h5": "h5py", ".zarr": "zarr"}
EVENTS = ("open", "os.mkdir", "os.rename", "os.chmod", "os.remove", "os.rmdir", "os.scandir", "os.listdir", "shutil.")
GROUP = 0o640
STORES = ("new.zarr", "old")  # one that is written, and one that is put aside


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


class Interrupted(Exception):
    pass


class Watch:
    """An audit hook that looks at a folder before whatever Python does with files, as another user could."""

    def __init__(self):
        self.folder, self.known, self.allowed = None, set(), 0
        self.exposed, self.names, self.looks = [], set(), 0
        sys.addaudithook(self)

    def __call__(self, event, args):
        if self.folder is not None and event.startswith(EVENTS):
            folder, self.folder = self.folder, None  # looking makes events, too
            try:
                self.look(folder, os.fspath(args[0]) if event == "os.rename" else "")
            finally:
                self.folder = folder

    def looking_after(self, function):
        """Return a function of the system after which the watch looks, too: what it has made has no content yet."""

        def looked(*args, **how):
            found = function(*args, **how)
            self("open", ())
            return found

        return looked

    def look(self, folder, whole):
        """Note what is there besides outputs, and what of it others may read or change, unless it is whole by now."""
        self.looks += 1
        for entry in os.scandir(folder):
            if entry.name not in self.known:
                self.names.add(entry.name)
                self.check(entry, whole)

    def check(self, entry, whole):
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except FileNotFoundError:  # which was there a moment ago
            return
        if stat.S_ISDIR(mode):
            for inner in os.scandir(entry):
                if inner.name not in STORES:  # others do not get there, and zarr knows nothing of permissions
                    self.check(inner, whole)
        if mode & 0o077 & ~(self.allowed if stat.S_ISREG(mode) else 0) and entry.path != whole:
            self.exposed.append((entry.path, oct(mode)))

    @contextmanager
    def watching(self, folder, known, allowed=0):
        self.exposed, self.names, self.looks, self.known, self.allowed = [], set(), 0, set(known), allowed
        with pytest.MonkeyPatch.context() as patch:
            for name in ("open", "mkdir", "fsync"):
                patch.setattr(os, name, self.looking_after(getattr(os, name)))
            self.folder = folder
            try:
                yield self
            finally:
                self.folder = None
        assert self.looks > 3
        assert self.exposed == []


@pytest.fixture(scope="module")
def watch():
    return Watch()


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.fixture(scope="module")
def model():
    return KernelPCA(2).fit(X)


def table(path, watch=None, key="k"):
    """Write rows of numbers, some at a time, and look whenever some of them are done."""
    rows = Computed(lambda part: part * 2.0, X, 40)
    write_data(path, rows, key=key, force=True, done=lambda *_: watch and watch("open", ()))


def figure(path):
    from kernelpca.plotting import ScoresDisplay

    ScoresDisplay.from_estimator(KernelPCA(2).fit(X), X).save(path)


def data(path):
    download.fetch, kept = (lambda address: b"x"), download.fetch
    try:
        source = download.Source(("https://a.example/x",))
        download.download(download.DataFile(path.name, sha256(b"x").hexdigest(), "", "", "", (source,)), path)
    finally:
        download.fetch = kept


def piece(path):
    from kernelpca_papers.store import Done, keep

    keep(path, Done({"a": np.ones(3)}, 1.0, 2))


OUTPUTS = {
    **{f"rows{suffix}": table for suffix in (".npy", ".npz", ".csv", ".parquet", ".h5", ".zarr")},
    "model.kpca": lambda path: KernelPCA(2).fit(X).save(path),
    "page.html": lambda path: write_explorer(path, KernelPCA(2).fit(X), X),
    "figure.svg": figure,
    "piece.npz": piece,
    "data.bin": data,
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(("mask", "before"), [(0, None), (0o022, None), (0o027, None), (0, GROUP), (0o077, GROUP)])
def test_nobody_else_reads_an_output_before_it_is_whole(name, mask, before, tmp_path, watch, umask):
    """And then its permissions are those of any new file, or of the file that was there."""
    pytest.importorskip(NEEDS.get(Path(name).suffix, "numpy"))
    path, write = tmp_path / name, OUTPUTS[name]
    write(path)  # whatever is imported, is imported now
    store = path.is_dir()
    if before is None:
        shutil.rmtree(path) if store else path.unlink()
    else:
        path.chmod(before | 0o110 * store)
    umask(mask)
    seen = []
    for _ in range(2):
        with watch.watching(tmp_path, [name], before or 0):
            table(path, watch) if write is table else write(path)
        seen.append(watch.names)
        wanted = (0o777 if store else 0o666) & ~mask if before is None else before | 0o110 * store
        assert stat.S_IMODE(path.stat().st_mode) == wanted
        assert names_in(tmp_path) == [name]
        if before is None:
            shutil.rmtree(path) if store else path.unlink()
    first, second = ({other for other in names if not other.endswith(".lock")} for names in seen)
    assert first
    assert second
    assert not first & second  # names that come again could be prepared by somebody else
    assert all(other.startswith(f".{name}.") for other in first | second)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_permissions_of_new_files_where_there_are_none_without_a_name(mask, tmp_path, umask, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    umask(mask)
    with writing_atomically(tmp_path / "x") as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask
    assert names_in(tmp_path) == ["x"]


# interrupted runs


def interrupted(path):
    """Let a run end after two of its blocks, and return the folder that it leaves."""

    def stop(done, _):
        if done == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        write_data(path, Computed(lambda part: part * 2.0, X, 40), key="k", force=True, done=stop)
    (folder,) = (entry for entry in path.parent.iterdir() if entry.name.endswith(".blocks"))
    return folder


def resumed(path):
    """Run again, and return how many blocks were worked out: two of four are left to do where the others are found."""
    sizes = []
    rows = Computed(lambda part: sizes.append(len(part)) or part * 2.0, X, 40)
    write_data(path, rows, key="k", force=True)
    np.testing.assert_array_equal(np.asarray(open_data(path)), 2.0 * X)
    return len(sizes) - 1  # the first row shows the type


@pytest.mark.parametrize("name", ["rows.npy", "n" * 240 + ".npy", "ü" * 100 + ".npy"])
@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_what_an_interrupted_run_leaves_is_private_and_found_again(name, mask, tmp_path, umask):
    umask(mask)
    path = tmp_path / name
    folder = interrupted(path)
    assert re.fullmatch(r"\..*\.[0-9a-f]{16}\.blocks", folder.name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()} == {0o600}
    umask(0o022)
    assert resumed(path) == 2
    assert names_in(tmp_path) == [name]


def test_blocks_of_another_file_are_left_alone(tmp_path):
    """Names that begin alike, and long ones of which the beginnings are the same."""
    others = [tmp_path / name for name in ("rows.npy.npy", "ro.npy", "n" * 80 + "1.npy")]
    left = [interrupted_beside(other) for other in others]
    for path in (tmp_path / "rows.npy", tmp_path / ("n" * 80 + "2.npy")):
        assert resumed(path) == 4
    assert all(folder.is_dir() for folder in left)
    assert [resumed(other) for other in others] == [2, 2, 2]


def interrupted_beside(path):
    """Interrupt a run in a folder of its own, and bring what it leaves to where others are."""
    apart = path.parent / "apart"
    apart.mkdir()
    folder = interrupted(apart / path.name)
    moved = folder.rename(path.parent / folder.name)
    shutil.rmtree(apart)
    return moved


@pytest.mark.parametrize("kind", ["for others, too", "of another user", "a link", "a file"])
def test_what_is_not_ours_is_not_gone_on_with(kind, tmp_path, monkeypatch):
    """Somebody has copied all that a run of ours would go on from, with other numbers in it."""
    path = tmp_path / "rows.npy"
    folder = interrupted(path)
    for block in folder.glob("*.npy"):
        np.save(block, -np.load(block))
    if kind == "for others, too":
        folder.chmod(0o755)
    elif kind == "a link":
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to("elsewhere")
    elif kind == "a file":
        shutil.rmtree(folder)
        folder.write_text("x")
    else:
        look = os.lstat

        def lstat(entry, **how):
            found = list(look(entry, **how))
            found[stat.ST_UID] += os.fspath(entry) == os.fspath(folder)
            return os.stat_result(found)

        monkeypatch.setattr(os, "lstat", lstat)
        monkeypatch.setattr(Path, "lstat", lstat)
    before = names_in(tmp_path)
    assert resumed(path) == 4
    assert names_in(tmp_path) == sorted([*before, path.name])


def test_a_folder_that_may_not_be_listed(tmp_path, monkeypatch):
    """Nothing is found to go on from, and results are written all the same."""

    def refuse(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    path = tmp_path / "rows.npy"
    folder = interrupted(path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", refuse)
        assert resumed(path) == 4
    assert folder.is_dir()
    assert resumed(path) == 2


# what others may have prepared


@pytest.mark.parametrize("kind", ["link", "link to nowhere", "pipe", "folder", "of another user"])
def test_a_lock_that_is_not_ours_is_not_touched(kind, tmp_path, monkeypatch):
    path, lock, target = tmp_path / "rows.npy", tmp_path / ".rows.npy.lock", tmp_path / "target"
    if kind == "link":
        target.write_text("mine")
    if kind.startswith("link"):
        lock.symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(lock)
    elif kind == "folder":
        lock.mkdir()
    else:
        lock.touch()
        monkeypatch.setattr(os, "geteuid", lambda: lock.stat().st_uid + 1)
    with pytest.raises(OSError, match=r"another user is writing it, or has put .*\.lock there: give another name"):
        write_data(path, X)
    assert os.path.lexists(lock)
    assert not path.exists()
    assert target.exists() == (kind == "link")
    assert kind != "link" or target.read_text() == "mine"


def test_a_lock_that_a_run_of_ours_has_left_is_taken(tmp_path):
    (tmp_path / ".rows.npy.lock").touch()
    write_data(tmp_path / "rows.npy", X)
    assert names_in(tmp_path) == ["rows.npy"]


@pytest.mark.parametrize("name", ["rows.npy", "rows.zarr", "model.kpca"])
def test_names_of_former_versions_lead_nowhere(name, tmp_path, model):
    """Links under names that once were those of temporary files."""
    pytest.importorskip(NEEDS.get(Path(name).suffix, "numpy"))
    path, theirs = tmp_path / name, tmp_path / "theirs"
    theirs.mkdir()
    for other in (f".{name}.blocks", f".{path.stem}.new{path.suffix}", f".{path.stem}.old{path.suffix}"):
        (tmp_path / other).symlink_to(theirs)
    model.save(path) if path.suffix == ".kpca" else write_data(path, X)
    assert list(theirs.iterdir()) == []
    assert not path.is_symlink()


@pytest.mark.parametrize("name", ["rows.npy", "rows.zarr", "model.kpca"])
@pytest.mark.parametrize("there", [True, False])
def test_links_of_others_in_a_folder_for_all_are_not_followed(name, there, tmp_path, model, monkeypatch):
    """The system itself does not follow them; reading a link and writing where it leads must not, either."""
    pytest.importorskip(NEEDS.get(Path(name).suffix, "numpy"))
    shared, target = tmp_path / "tmp", tmp_path / f"target{Path(name).suffix}"
    shared.mkdir()
    if there:
        target.write_text("mine")
    link = shared / name
    link.symlink_to(target)

    def write():
        model.save(link) if link.suffix == ".kpca" else write_data(link, X, force=True)

    shared.chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: link.lstat().st_uid + 1)
    stats = Path.stat

    def stat_of(path, **how):
        found = list(stats(path, **how))
        found[stat.ST_UID] += 2 * (path == shared)  # it belongs to the system
        return os.stat_result(found)

    monkeypatch.setattr(Path, "stat", stat_of)
    with pytest.raises(OSError, match="it is a link that another user has put there: give another name"):
        write()
    assert target.exists() == there
    assert not there or target.read_text() == "mine"
    monkeypatch.undo()
    if not there:  # a link of our own
        write()
        assert link.is_symlink()
        assert (
            load(target).n_components == 2 if link.suffix == ".kpca" else np.asarray(open_data(target)).shape == X.shape
        )


def test_links_that_lead_to_themselves(tmp_path):
    (tmp_path / "a.npy").symlink_to("b.npy")
    (tmp_path / "b.npy").symlink_to("a.npy")
    with pytest.raises(OSError, match=r"a\.npy was not written: Too many levels of symbolic links"):
        write_data(tmp_path / "a.npy", X)


def test_a_second_run_waits_for_nobody_and_touches_nothing(tmp_path):
    """Of two at once the second is refused, and the blocks of the first are there as they were."""
    pytest.importorskip("fcntl")
    path = tmp_path / "rows.npy"
    code = "import sys; from kernelpca.io import write_data; write_data(sys.argv[1], [[1.0]], force=True)"
    asked = []

    def ask(done, _):
        asked.append(subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True).stderr)

    write_data(path, Computed(lambda part: part, X, 80), key="k", done=ask)
    assert len(asked) == 4
    assert all("another process is writing it" in told for told in asked)
    np.testing.assert_array_equal(np.load(path), X)
