"""Captures of real instrumentations, packed in `tests/data` by `tests/data/pack.py`, and what they must become."""

import io
import json
import lzma
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from otel_eval.model import Batch
from otel_eval.otlp.otlp_json import batch_from_json
from otel_eval.otlp.records import batch_from_protobuf

DATA = Path(__file__).parent / "data"
FOLDERS = ("corpus", "captures")
"""The handed corpus of many instrumentations, and further captures of other frameworks, versions and languages."""


@dataclass(frozen=True, kw_only=True)
class Capture:
    """One run of an instrumentation: the request bodies by file name, and the conversations that stand in them."""

    name: str
    requests: Mapping[str, bytes]
    expected: Mapping[str, Any]

    @property
    def conversations(self) -> list[dict[str, Any]]:
        return list(self.expected["conversations"])

    def write(self, folder: Path) -> Path:
        """The requests as files in a folder, as a user has them."""
        for name, body in self.requests.items():
            (folder / name).write_bytes(body)
        return folder

    def batches(self) -> list[Batch]:
        """The requests decoded, in order of arrival."""
        return [batch_of(name, body) for name, body in sorted(self.requests.items())]


def names() -> list[str]:
    """All packed captures, as `corpus/NAME` and `captures/NAME`."""
    return [f"{folder}/{p.name.removesuffix('.tar.xz')}" for folder in FOLDERS for p in sorted((DATA / folder).glob("*.tar.xz"))]


@cache
def capture(name: str) -> Capture:
    """The capture of a name that `names` gives; without its folder, the corpus is meant."""
    path = DATA / f"{name if '/' in name else f'corpus/{name}'}.tar.xz"
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(path.read_bytes()))) as archive:
        files = {member.name: read.read() for member in archive if (read := archive.extractfile(member))}
    requests = {name.removeprefix("requests/"): body for name, body in files.items() if name.startswith("requests/")}
    return Capture(name=name, requests=requests, expected=json.loads(files["expected.json"]))


def batch_of(name: str, body: bytes) -> Batch:
    """One request by the name of its file."""
    return batch_from_json(body) if name.endswith(".json") else batch_from_protobuf(body, "logs" if "logs" in name else "traces")
