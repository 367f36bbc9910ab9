"""Saved files: replaced as a whole or not at all, as by the command."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import spocc

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals of Unix")

MODEL = spocc.fit([["cat", "dog"], ["dog", "dog"]] * 2, ["cat", "dog"] * 2, method="spocc")
OTHER = spocc.fit([["cat", "dog"], ["dog", "dog"]] * 9, ["cat", "dog"] * 9, method="naive-bayes")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "m.spocc"
    for mode in [0o640, 0o604, 0o600]:
        if path.exists():
            path.chmod(mode)
        MODEL.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "link").symlink_to("models/m.spocc")
    for saved in [MODEL, OTHER, OTHER.evidence]:
        assert saved is not None
        saved.save(tmp_path / "link")
        assert (tmp_path / "models" / "m.spocc").read_bytes() == saved.to_bytes()
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "models") == ["m.spocc"]


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no /dev/shm")
def test_a_file_among_devices_is_replaced() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "m.spocc"
        for saved in [OTHER, MODEL]:
            saved.save(path)
            assert path.read_bytes() == saved.to_bytes()


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    MODEL.save(path)
    reader.join()
    assert read == [MODEL.to_bytes()]
    assert path.is_fifo()


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "locked").write_bytes(b"old")
    (tmp_path / "locked").chmod(0o400)
    (tmp_path / "loop").symlink_to("loop")
    for name, number, kind in [
        ("folder", errno.EISDIR, IsADirectoryError),
        ("locked", errno.EACCES, PermissionError),
        ("loop", errno.ELOOP, OSError),
        ("none/m.spocc", errno.ENOENT, FileNotFoundError),
        ("x" * 300, errno.ENAMETOOLONG, OSError),
    ]:
        with pytest.raises(kind) as refused:
            MODEL.save(tmp_path / name)
        error = refused.value
        assert isinstance(error, OSError)
        assert (error.errno, error.filename) == (number, str(tmp_path / name))
        assert "\n" not in str(error)
    assert (tmp_path / "locked").read_bytes() == b"old"
    assert names(tmp_path) == ["folder", "locked", "loop"]
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
            MODEL.save("/dev/full")


def test_threads_can_save_to_one_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "m.spocc"
    MODEL.save(path)

    def save(number: int) -> bytes:
        [MODEL, OTHER][number % 2].save(path)
        return path.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(save, range(48))) <= {MODEL.to_bytes(), OTHER.to_bytes()}
    assert names(tmp_path) == ["m.spocc"]


def test_a_process_killed_at_any_moment_leaves_a_complete_file(tmp_path: Path) -> None:
    path, source = tmp_path / "m.spocc", tmp_path / "source"
    MODEL.save(path)
    OTHER.save(source)
    code = (
        f"import spocc\nmodel = spocc.load_model({str(source)!r})\nprint(flush=True)\n"
        f"while True: model.save({str(path)!r})"
    )
    for number in range(5):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.003 * number)
            process.send_signal(signal.SIGKILL)
        assert path.read_bytes() in [MODEL.to_bytes(), OTHER.to_bytes()]
        assert len(names(tmp_path)) <= 3
    MODEL.save(path)
    assert names(tmp_path) == ["m.spocc", "source"]
