"""A scorer as a process of its own, clients that speak to it, and captures under other ids.

with Server(tmp_path, sinks={...}) as server:
    server.post("traces", body)
    server.wait(lambda: ...)
"""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.captures import Capture

ROOT = Path(__file__).parent.parent.parent
_LISTENS = re.compile(r"(?:OTLP/(?P<name>grpc|http) on \S+:|(?P<status>status) on port )(?P<port>\d+)")
_IDS = re.compile(rb"conv-(?:booking|cancel|hotel|long)-00\d")
_DIGITS = b"0123456789abcdefghijklmnopqrstuvwxyz"


class Server:
    """The process. `settings` are keys of the configuration as `section__key`, on top of short times and free ports."""

    command = "serve"
    listens: tuple[str, ...] = ("http", "grpc")
    """What says where it listens."""

    def __init__(self, folder: Path, *, arguments: Sequence[str] = (), **settings: Any) -> None:
        self.folder, self._arguments = folder, arguments
        times = {"completion__trace_quiet": "300ms", "completion__trace_max_age": "5s", "completion__conversation_idle": "600ms"}
        ports = {"receive__http__endpoint": "127.0.0.1:0", "receive__grpc__endpoint": "127.0.0.1:0"}
        self.settings = {"store__path": str(folder / "store.db"), "store__min_disk": "0", **times, **ports, **settings}
        self.prefix: tuple[str, ...] = ()
        """Words before the command: what runs it."""
        self.log: list[str] = []
        self.ports: dict[str, int] = {}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    @property
    def grpc(self) -> str:
        return f"127.0.0.1:{self.ports['grpc']}"

    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OPENAI_"))}
        own = {f"OTEL_EVAL__{name.upper()}": _text(value) for name, value in self.settings.items()}
        return {**clean, **own, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}

    def start(self) -> None:
        """Start it, and wait until it takes requests."""
        self.ports, began = {}, len(self.log)
        command = [*self.prefix, sys.executable, "-m", "otel_eval", self.command, *self._arguments]
        self.process = subprocess.Popen(
            command, env=self.environment(), cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        self._reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self._reader.start()
        until(lambda: len(self.ports) == self._expected() or self.process.poll() is not None, 60.0)
        if self.process.poll() is not None:
            self._close()
            raise AssertionError(f"the server ended with {self.process.returncode}: {self.log[began:]}")

    def _expected(self) -> int:
        return sum(self.settings.get(f"receive__{name}__enabled", True) is not False for name in self.listens)

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.log.append(line.rstrip("\n"))
            found = _LISTENS.search(line)
            if found is not None and process is self.process:
                self.ports[found["name"] or found["status"]] = int(found["port"])

    def stop(self, *, within_s: float = 30.0) -> int:
        """End it as an operator does; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._close()
        return code

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        self._reader.join(5)
        if self.process.stderr is not None:
            self.process.stderr.close()

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Status and object of a page."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def outcomes(self, kind: str | None = None) -> dict[str, int]:
        """Units by outcome."""
        counts: dict[str, int] = {}
        for row in self.get("/outcomes")[1]["outcomes"]:
            if kind in (None, row["kind"]):
                counts[row["outcome"]] = counts.get(row["outcome"], 0) + row["units"]
        return counts

    def post(self, signal_name: str, body: bytes, *, json_body: bool = False, **headers: str) -> int:
        """Send a request over HTTP; the status."""
        return status_of_post(self.url, signal_name, body, json_body=json_body, **headers)


def status_of_post(url: str, signal_name: str, body: bytes, *, json_body: bool = False, **headers: str) -> int:
    """Send an OTLP request over HTTP; the status."""
    content_type = "application/json" if json_body else "application/x-protobuf"
    request = urllib.request.Request(f"{url}/v1/{signal_name}", data=body, headers={"Content-Type": content_type, **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def until(holds: Callable[[], Any], within_s: float, *, every_s: float = 0.05) -> None:
    """Wait until something holds; the test fails when it does not in time."""
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, f"waited {within_s:g} s in vain"
        time.sleep(every_s)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request to send."""

    signal: str
    body: bytes
    is_json: bool = False


@dataclass(kw_only=True)
class Copy:
    """A capture under ids of its own: another conversation of the same content."""

    number: int
    source: Capture
    requests: list[Sent] = field(default_factory=list)

    def files(self, folder: Path) -> Path:
        """The requests as files, as a user has them."""
        folder.mkdir(parents=True)
        for place, sent in enumerate(self.requests):
            (folder / f"{place:03}.{sent.signal}.{'json' if sent.is_json else 'pb'}").write_bytes(sent.body)
        return folder


def copy_of(source: Capture, number: int) -> Copy:
    """The capture with other ids, and another name or number in its words, each as long as it was; the same number gives the same."""
    traces = {t for batch in source.batches() for t in (*(s.trace_id for s in batch.spans), *(r.trace_id for r in batch.logs)) if t}
    changed: dict[bytes, bytes] = {}
    for trace in traces:
        other = number.to_bytes(4, "big") + bytes.fromhex(trace)[4:]
        changed[bytes.fromhex(trace)] = other
        changed[trace.encode()] = other.hex().encode()
    for conversation in source.conversations:
        name = str(conversation.get("id") or "")
        if len(name) == 36:
            changed[name.encode()] = f"{number:08x}{name[8:]}".encode()
    copy = Copy(number=number, source=source)
    for name, body in sorted(source.requests.items()):
        copy.requests.append(
            Sent(signal="logs" if "logs" in name else "traces", body=_renamed(body, changed, number), is_json=name.endswith(".json"))
        )
    return copy


def _renamed(body: bytes, changed: Mapping[bytes, bytes], number: int) -> bytes:
    for old, new in changed.items():
        body = body.replace(old, new)
    code = bytes([_DIGITS[number // 1296 % 36], _DIGITS[number // 36 % 36], _DIGITS[number % 36]])
    body = body.replace(b"Ana Ruiz", b"Ana R" + code).replace(b"H-2231", b"H-" + code + b"1")
    return _IDS.sub(lambda found: found[0][:5] + code + found[0][8:], body)


def copies(sources: list[Capture], count: int) -> Iterator[Copy]:
    """So many copies of captures, one after the other."""
    for number in range(count):
        yield copy_of(sources[number % len(sources)], number + 1)


def settled(server: Server) -> bool:
    """Whether nothing is due, nothing waits for scoring and nothing for a sink."""
    with closing(sqlite3.connect(f"file:{server.settings['store__path']}?mode=ro", uri=True)) as db:
        counts = [
            db.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]
            for table, where in (
                ("traces", "due_s IS NOT NULL"),
                ("conversations", "due_s IS NOT NULL"),
                ("work", "1"),
                ("outbox", "dead = 0"),
            )
        ]
    return not any(counts)
