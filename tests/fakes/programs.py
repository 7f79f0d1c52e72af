"""Real programs of others beside otel-eval, on free ports of loopback: built once by a script, ended by their own process id."""

import os
import socket
import subprocess
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

from tests.fakes.serving import ROOT, until


def built(script: str, *arguments: str, must_be: bool = True) -> Path:
    """A program that a script of ours builds. Where it must be, the test is skipped without it, with the command; in CI it fails."""
    print_it = [str(ROOT / "scripts" / script), "--print", *arguments]
    program = Path(subprocess.run(print_it, capture_output=True, text=True, check=True).stdout.strip())
    if must_be and not program.exists():
        missing = f"{program.name} is not built: run {' '.join(['scripts/' + script, *arguments])}"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return program


def free_port() -> int:
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    """Whether a page is there."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


class Program:
    """A process with its output in a file. It is ready once `ready` (a page) answers."""

    def __init__(
        self, name: str, command: Sequence[str], folder: Path, *, ready: str, environment: Mapping[str, str] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._command, self._folder, self._ready = command, folder, ready
        self._environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), **(environment or {})}
        self.log_file = folder / f"{name}.log"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        with self.log_file.open("a") as log:
            self.process = subprocess.Popen(self._command, cwd=self._folder, env=self._environment, stdout=log, stderr=log)
        until(lambda: self.process.poll() is not None or answers(self._ready), 60)
        if self.process.poll() is not None:
            raise AssertionError(f"{self._command[0]} ended with {self.process.returncode}: {self.log[-3000:]}")

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()

    def stop(self, *, within_s: float = 20.0) -> int:
        """Ask it to end; its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(within_s)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
