"""Requests with texts that are no UTF-8, mended.

Protobuf refuses a whole request for one text that was cut inside a character, which senders that shorten attributes by bytes do produce and
Collectors pass on. Here such a request is parsed once more with every text as bytes, and the broken characters become U+FFFD.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FileDescriptor
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

_FIELD = descriptor_pb2.FieldDescriptorProto


def mended_traces(body: bytes) -> bytes:
    """The body of a traces request with all its texts in UTF-8; DecodeError when it is no such request."""
    return _mended(body, "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest")


def mended_logs(body: bytes) -> bytes:
    """The same of a logs request."""
    return _mended(body, "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest")


def _mended(body: bytes, name: str) -> bytes:
    messages, texts = _lenient()
    request = messages[name].FromString(body)
    _mend(request, texts)
    mended: bytes = request.SerializeToString()
    return mended


def _mend(message: Any, texts: frozenset[str]) -> None:
    """Mend the texts of a message and of those in it."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                _mend(inner, texts)
        elif field.full_name in texts:
            setattr(message, field.name, value.decode(errors="replace").encode())


@lru_cache(maxsize=1)
def _lenient() -> tuple[dict[str, Any], frozenset[str]]:
    """The message classes of OTLP with texts as bytes, by name, and the names of the fields that are texts."""
    pool, texts = descriptor_pool.DescriptorPool(), set[str]()
    files = [*_files(trace_service_pb2.DESCRIPTOR), *_files(logs_service_pb2.DESCRIPTOR)]
    protos = {file.name: _proto(file) for file in files}
    for proto in protos.values():
        for message in proto.message_type:
            texts.update(_texts_as_bytes(message, proto.package))
        pool.AddSerializedFile(proto.SerializeToString())
    return message_factory.GetMessageClassesForFiles(list(protos), pool), frozenset(texts)


def _files(file: FileDescriptor) -> Iterator[FileDescriptor]:
    """A file after those that it imports."""
    for imported in file.dependencies:
        yield from _files(imported)
    yield file


def _proto(file: FileDescriptor) -> descriptor_pb2.FileDescriptorProto:
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    return proto


def _texts_as_bytes(message: descriptor_pb2.DescriptorProto, place: str) -> Iterator[str]:
    """Make bytes of the texts of a message type and of those inside it; their full names."""
    name = f"{place}.{message.name}"
    for field in message.field:
        if field.type == _FIELD.TYPE_STRING and field.label != _FIELD.LABEL_REPEATED:
            field.type = _FIELD.TYPE_BYTES
            yield f"{name}.{field.name}"
    for nested in message.nested_type:
        yield from _texts_as_bytes(nested, name)
