"""What a server costs, read from the operating system (Linux): its processes and those of its children, in /proc."""

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


def tree(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                children[int(_stat(int(entry.name))[1])].append(int(entry.name))
    todo = [pid]
    while todo:
        found = todo.pop()
        todo += children[found]
        yield found


def cpu_s(pid: int) -> float:
    """Processor seconds that a process tree took so far, user and system, those of ended children too. In steps of 10 ms."""
    ticks = 0
    for found in tree(pid):
        with suppress(OSError):
            ticks += sum(map(int, _stat(found)[11:15]))  # utime, stime, cutime, cstime
    return ticks / _TICKS


def rss_mb(pid: int) -> float:
    """Resident memory of a process tree now, in MiB."""
    return sum(_memory_kib(found, "VmRSS") for found in tree(pid)) / 1024


def peak_mb(pid: int) -> float:
    """The most that each process of a tree ever had resident, in MiB."""
    return sum(_memory_kib(found, "VmHWM") for found in tree(pid)) / 1024


def _memory_kib(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in (_PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    return 0


def _stat(pid: int) -> list[str]:
    """The fields behind the command's name, which may hold spaces: the state first."""
    return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
