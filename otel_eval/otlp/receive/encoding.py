"""In what form a body came, from its headers or its first bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_eval.errors import InputError
from otel_eval.otlp.refusals import WrongType
from otel_eval.otlp.status import Format

Packing: TypeAlias = Literal["", "gzip", "deflate", "zstd"]

_FORMATS: Mapping[str, Format] = {"application/x-protobuf": "protobuf", "application/json": "json"}
_PACKINGS: Mapping[str, Packing] = {
    "": "",
    "identity": "",
    "gzip": "gzip",
    "x-gzip": "gzip",
    "deflate": "deflate",
    "zlib": "deflate",
    "zstd": "zstd",
}
_MAGIC: tuple[tuple[bytes, Packing], ...] = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_ZLIB_WINDOW = 0x78


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Format and packing of a body. As text it is kept beside the body: `protobuf+gzip`."""

    format: Format
    packing: Packing = ""

    def __str__(self) -> str:
        return f"{self.format}+{self.packing}" if self.packing else self.format


PROTOBUF = Encoding(format="protobuf")

_BY_TEXT: Mapping[str, Encoding] = {
    str(encoding): encoding for f in _FORMATS.values() for p in _PACKINGS.values() for encoding in [Encoding(format=f, packing=p)]
}


def encoding_from_text(text: str) -> Encoding:
    """The encoding that was kept as text."""
    return _BY_TEXT[text]


def format_from_type(content_type: str | None) -> Format:
    """The format that a Content-Type names, whatever its parameters; WrongType where it is none of OTLP's."""
    name = (content_type or "").partition(";")[0].strip().lower()
    found = _FORMATS.get(name)
    if found is None:
        raise WrongType(f"content type {name[:80]!r} is not taken: expected {' or '.join(_FORMATS)}")
    return found


def packing_from_header(content_encoding: str | None) -> Packing:
    """The packing that a Content-Encoding names; InputError where it is none that is read here."""
    name = (content_encoding or "").strip().lower()
    found = _PACKINGS.get(name)
    if found is None:
        raise InputError(f"content encoding {name[:80]!r} is not taken: expected none, gzip, deflate or zstd")
    return found


def packing_from_head(body: bytes) -> Packing:
    """The packing of a protobuf body by its first bytes: such a request begins with 0x0a, or is empty."""
    found = next((packing for magic, packing in _MAGIC if body.startswith(magic)), None)
    if found is not None:
        return found
    is_zlib = len(body) > 2 and body[0] == _ZLIB_WINDOW and (body[0] * 256 + body[1]) % 31 == 0
    return "deflate" if is_zlib else ""
