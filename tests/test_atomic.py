"""Files that are written whole or not at all: with the permissions of what was there, and through links."""

import os
import stat
import sys

import pytest

from kernelpca import PCA, load
from kernelpca.atomic import write_atomically, writing_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_what_was_there_keeps_its_permissions(tmp_path, mode, umask):
    path = tmp_path / "m.kpca"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode_of(path) == mode


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o007])
def test_a_new_file_has_those_that_the_process_gives(tmp_path, mask, umask):
    umask(mask)
    write_atomically(tmp_path / "new", b"x")
    assert mode_of(tmp_path / "new") == 0o666 & ~mask


def test_nobody_else_reads_it_while_it_is_written(tmp_path, umask):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with writing_atomically(path) as file:
        file.write(b"new")
        (hidden,) = set(tmp_path.iterdir()) - {path}
        assert mode_of(hidden) == 0o600
        assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_written_through(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "m.kpca", tmp_path / "link.kpca"
    link.symlink_to("folder/m.kpca")
    for rows in ([[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0], [2.0, 3.0], [1.0, 0.0]]):  # leading nowhere, and to a file
        PCA(1).fit(rows).save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert load(target).n_features_in_ == 2
    assert list((tmp_path / "folder").iterdir()) == [target]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def interrupted():
        with writing_atomically(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_long_names_and_what_is_no_file(tmp_path):
    path = tmp_path / ("n" * 250)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="device or a pipe"):
        write_atomically(tmp_path / "pipe", b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
