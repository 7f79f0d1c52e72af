"""Floor A: what any reader in Python must pay, protobuf parsed and the attributes of every span put into a dict. Nothing else is done.

It is the yardstick of all ratios here, because it moves with the machine as the product does.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PlainSpan: TypeAlias = tuple[Any, ...]


def plain_spans(body: bytes) -> list[PlainSpan]:
    """Every span of a protobuf request as a tuple, its attributes as a dict."""
    out: list[PlainSpan] = []
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _attributes(group.resource.attributes)
        for part in group.scope_spans:
            scope = (part.scope.name, part.scope.version)
            for s in part.spans:
                times = (s.start_time_unix_nano, s.end_time_unix_nano)
                ids = (s.trace_id, s.span_id, s.parent_span_id)
                out.append((*ids, s.name, s.kind, *times, s.status.code, s.flags, _attributes(s.attributes), resource, scope))
    return out


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    """Text first: most values are text, and reading it is one call into C."""
    made: dict[str, Any] = {}
    for pair in pairs:
        value = pair.value
        made[pair.key] = value.string_value or _value(value)
    return made


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(v) for v in value.array_value.values]
    if kind == "kvlist_value":
        return {p.key: _value(p.value) for p in value.kvlist_value.values}
    return None if kind is None else getattr(value, kind)
