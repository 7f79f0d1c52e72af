"""Requests of spans cut apart and spans added to, on the wire form: what is not touched stays as it was, byte for byte.

Only the frame is read: which bytes are a group, a part of it, a span and its ids. All else, fields that nobody knows included, is copied.

**Source**: Protocol Buffers, encoding; opentelemetry-proto v1.11.0, `trace.proto` (numbers of fields).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from otel_eval.errors import InputError
from otel_eval.model import SpanRef
from otel_eval.otlp.encode import EventOut, pairs_from_attributes

_RESOURCE_SPANS, _SCOPE_SPANS, _SPANS = 1, 2, 2
_TRACE_ID, _SPAN_ID, _EVENTS = 1, 2, 11
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Keep: TypeAlias = Callable[[bytes], bool]
"""Whether a span of a trace (its 16 bytes) is kept."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field: its number, where its value begins and ends, and where the field as a whole does."""

    number: int
    is_bytes: bool
    start: int
    value: int
    end: int


def trace_ids(body: bytes) -> frozenset[str]:
    """Ids of the traces that a request has spans of. InputError where it is no request."""
    return frozenset(_text_id(body, span, _TRACE_ID) for group in _groups(body) for part in group for span in part)


def with_traces(body: bytes, keep: frozenset[str]) -> bytes:
    """The request with the spans of these traces alone; groups that lose all of theirs are left out."""
    return _rebuilt(body, lambda span: _text_id(body, span, _TRACE_ID) in keep, {})


def without_traces(body: bytes, drop: frozenset[str]) -> bytes:
    """The request without the spans of these traces."""
    return _rebuilt(body, lambda span: _text_id(body, span, _TRACE_ID) not in drop, {})


def with_events(body: bytes, events: Mapping[SpanRef, Sequence[EventOut]]) -> bytes:
    """The request with events added to the end of some spans."""
    added = {(ref.trace_id, ref.span_id): b"".join(map(_event_field, listed)) for ref, listed in events.items()}
    return _rebuilt(body, lambda span: True, added) if added else body


def _event_field(event: EventOut) -> bytes:
    message = Span.Event(time_unix_nano=event.time_ns, name=event.name, attributes=pairs_from_attributes(event.attributes))
    return _field_bytes(_EVENTS, message.SerializeToString())


def _rebuilt(body: bytes, keep: Callable[[_Field], bool], added: Mapping[tuple[str, str], bytes]) -> bytes:
    out = []
    for group in _fields(body, 0, len(body)):
        if group.number != _RESOURCE_SPANS or not group.is_bytes:
            out.append(body[group.start : group.end])
            continue
        parts, left = [], False
        for part in _fields(body, group.value, group.end):
            if part.number != _SCOPE_SPANS or not part.is_bytes:
                parts.append(body[part.start : part.end])
                continue
            rebuilt = _rebuilt_part(body, part, keep, added)
            left = left or rebuilt is not None
            parts.append(rebuilt or b"")
        if left:
            out.append(_field_bytes(_RESOURCE_SPANS, b"".join(parts)))
    return b"".join(out)


def _rebuilt_part(body: bytes, part: _Field, keep: Callable[[_Field], bool], added: Mapping[tuple[str, str], bytes]) -> bytes | None:
    """The field of a scope's spans; None where it had spans and none is left."""
    pieces, had, left = [], False, False
    for span in _fields(body, part.value, part.end):
        if span.number != _SPANS or not span.is_bytes:
            pieces.append(body[span.start : span.end])
            continue
        had = True
        if not keep(span):
            continue
        left = True
        more = added.get((_text_id(body, span, _TRACE_ID), _text_id(body, span, _SPAN_ID))) if added else None
        pieces.append(body[span.start : span.end] if more is None else _field_bytes(_SPANS, body[span.value : span.end] + more))
    return _field_bytes(_SCOPE_SPANS, b"".join(pieces)) if left or not had else None


def _groups(body: bytes) -> Iterator[list[list[_Field]]]:
    for group in _fields(body, 0, len(body)):
        if group.number == _RESOURCE_SPANS and group.is_bytes:
            parts = [p for p in _fields(body, group.value, group.end) if p.number == _SCOPE_SPANS and p.is_bytes]
            yield [[s for s in _fields(body, p.value, p.end) if s.number == _SPANS and s.is_bytes] for p in parts]


def _text_id(body: bytes, span: _Field, number: int) -> str:
    """An id of a span in hexadecimal; of a field that stands twice the last counts; empty where there is none."""
    found = ""
    for field in _fields(body, span.value, span.end):
        if field.number == number and field.is_bytes:
            found = body[field.value : field.end].hex()
        if field.number > _SPAN_ID and found:
            break
    return found


def _fields(body: bytes, start: int, end: int) -> Iterator[_Field]:
    """The fields of a message that stands between two places."""
    place = start
    while place < end:
        begin = place
        tag, place = _varint(body, place, end)
        kind = tag & 7
        if kind == _BYTES:
            size, place = _varint(body, place, end)
            value, place = place, place + size
        elif kind == _VARINT:
            value = place
            _, place = _varint(body, place, end)
        elif kind in (_FIXED64, _FIXED32):
            value, place = place, place + (8 if kind == _FIXED64 else 4)
        else:
            raise InputError(f"{end - start} bytes are no protobuf message: expected the body of an OTLP traces request")
        if place > end:
            raise InputError(f"{end - start} bytes end inside a field: expected the whole body of an OTLP traces request")
        yield _Field(tag >> 3, kind == _BYTES, begin, value, place)


def _varint(body: bytes, place: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while place < end and shift < 70:
        byte = body[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise InputError("a number of a protobuf message has no end: expected the whole body of an OTLP traces request")


def _field_bytes(number: int, value: bytes) -> bytes:
    return _varint_bytes(number << 3 | _BYTES) + _varint_bytes(len(value)) + value


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
