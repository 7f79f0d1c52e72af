"""A real file system of a few megabytes, to be filled or made read-only."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A mounted file system of this size (`9m`); where none can be mounted the test is skipped: that needs the rights of root."""
    place.mkdir()
    made = _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))
    if made.returncode:
        pytest.skip("a small file system cannot be mounted here: it needs the rights to do so")
    try:
        yield place
    finally:
        _run("umount", "-l", str(place)).check_returncode()


def make_read_only(place: Path) -> None:
    """From now on nothing can be written there; no file may be open for writing."""
    _run("mount", "-o", "remount,ro", str(place)).check_returncode()


def fill(file: Path) -> None:
    """Write a file until the disk has no byte left."""
    with file.open("wb", buffering=0) as filler:
        for size in (65_536, 4_096, 1):
            try:
                while filler.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def _run(*command: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(command, capture_output=True, check=False)
