"""The funnel of both transports."""

import asyncio
import gzip
import json
import threading
from typing import Any

import pytest
import zstandard

from otel_eval.errors import InputError, Overloaded, StoreError
from otel_eval.otlp.receive.encoding import Encoding, encoding_from_text
from otel_eval.otlp.receive.intake import Intake, Received, batch_from_kept
from otel_eval.otlp.status import ACCEPTED, Receipt
from otel_eval.otlp.unpack import TooLarge
from tests.fakes.wire import json_span, json_traces, logs, metrics, span, traces


def taken(*requests: tuple[str, bytes, str], fault: Exception | None = None, **how: Any) -> tuple[list[Received], list[Receipt], Intake]:
    """Hand requests to a funnel that remembers; what was kept, and the receipts."""
    kept: list[Received] = []

    async def keep(received: Received) -> None:
        if fault is not None:
            raise fault
        kept.append(received)

    async def main() -> tuple[list[Received], list[Receipt], Intake]:
        intake = Intake(keep, **{"max_body_bytes": 1_000_000, "pack": False, **how})
        try:
            receipts = [await intake(signal, body, encoding_from_text(encoding)) for signal, body, encoding in requests]  # type: ignore[arg-type]  # signals
        finally:
            intake.close()
        return kept, receipts, intake

    return asyncio.run(main())


LARGE = traces(*(span(n, name="a name " * 20) for n in range(1, 300)))


@pytest.mark.parametrize("body", [traces(span(1)), LARGE])
@pytest.mark.parametrize("encoding", ["protobuf", "protobuf+gzip"])
def test_a_body_is_kept_as_it_came(body: bytes, encoding: str) -> None:
    """Small or large, packed or not: what is kept is what came, with its envelope, and it is read again to the same spans."""
    sent = gzip.compress(body) if "gzip" in encoding else body
    kept, receipts, intake = taken(("traces", sent, encoding))
    assert (kept[0].body, str(kept[0].encoding), kept[0].plain_bytes) == (sent, encoding, len(body))
    assert receipts == [ACCEPTED]
    batch = batch_from_kept("traces", str(kept[0].encoding), kept[0].body)
    assert len(batch.spans) == kept[0].envelope.spans == intake.counts.items["traces"]
    assert (intake.counts.requests["traces"], intake.counts.bytes["traces"]) == (1, len(sent))


def test_a_plain_body_is_packed_where_that_is_cheap() -> None:
    """A plain body of some size is kept packed, and is read again to the same; a packed one stays as it came."""
    kept, _, _ = taken(("traces", LARGE, "protobuf"), ("traces", gzip.compress(LARGE), "protobuf+gzip"), pack=True)
    assert str(kept[0].encoding) == "protobuf+zstd"
    assert zstandard.decompress(kept[0].body, max_output_size=10**7) == LARGE
    assert batch_from_kept("traces", "protobuf+zstd", kept[0].body) == batch_from_kept("traces", "protobuf", LARGE)
    assert str(kept[1].encoding) == "protobuf+gzip"


def test_json_is_kept_with_what_its_path_takes() -> None:
    """Of a JSON body that holds both signals only the path's is read, now and later."""
    body = json.dumps(json_traces(json_span(1)) | {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "5"}]}]}]}).encode()
    kept, _, _ = taken(("traces", body, "json"))
    batch = batch_from_kept("traces", "json", kept[0].body)
    assert (len(batch.spans), len(batch.logs)) == (1, 0)
    other = batch_from_kept("logs", "json", body)
    assert (len(other.spans), len(other.logs)) == (0, 1)


def test_metrics_are_dropped_with_success() -> None:
    """Metrics are taken and nothing is kept of them."""
    kept, receipts, intake = taken(("metrics", metrics(), "protobuf"), ("metrics", b"{}", "json"))
    assert (kept, receipts) == ([], [ACCEPTED, ACCEPTED])
    assert intake.counts.requests["metrics"] == 2


def test_invalid_items_stand_on_the_receipt() -> None:
    """The sender is told how many items are refused for good and what is wrong with them, the most frequent first."""
    _, receipts, intake = taken(("traces", traces(span(1), *(span(n, trace_id=b"x") for n in (2, 3)), span(4, span_id=b"y")), "protobuf"))
    assert receipts[0].rejected == 3
    assert receipts[0].message == "rejected for good: 2 invalid_trace_id, 1 invalid_span_id; the others were taken"
    assert intake.counts.rejected == {"invalid_trace_id": 2, "invalid_span_id": 1}


REFUSED = [
    ("traces", b"\xff\xff", "protobuf", InputError),
    ("traces", logs("x"), "protobuf", InputError),
    ("traces", b"plain", "protobuf+gzip", InputError),
    ("traces", bytes(1_000_001), "protobuf", TooLarge),
    ("traces", gzip.compress(bytes(1_000_001)), "protobuf+gzip", TooLarge),
    ("traces", b"{", "json", InputError),
]


@pytest.mark.parametrize(("signal", "body", "encoding", "error"), REFUSED)
def test_what_cannot_be_read_is_not_kept(signal: str, body: bytes, encoding: str, error: type[Exception]) -> None:
    """Damaged, misdirected and too large bodies are refused before anything is kept."""
    with pytest.raises(error):
        taken((signal, body, encoding))


@pytest.mark.parametrize("fault", [Overloaded("full"), StoreError("broken")])
def test_what_the_keeper_says_is_passed_on(fault: Exception) -> None:
    """There is no receipt for what could not be kept."""
    with pytest.raises(type(fault)):
        taken(("traces", traces(span(1)), "protobuf"), fault=fault)


def test_keeping_that_takes_too_long_is_an_overload() -> None:
    """When the disk hangs, the sender is told to send again."""
    stuck = threading.Event()

    async def keep(received: Received) -> None:
        await asyncio.to_thread(stuck.wait, 5)

    async def main() -> None:
        intake = Intake(keep, max_body_bytes=1000, keep_timeout_s=0.05)
        try:
            with pytest.raises(Overloaded, match="not kept within"):
                await intake("traces", traces(span(1)), Encoding(format="protobuf"))
        finally:
            stuck.set()
            intake.close()

    asyncio.run(main())


def test_an_evaluators_request_is_told_but_needs_no_body() -> None:
    """Where all is an evaluator's the keeper hears of it, and that the body is not needed."""
    own = span(1)
    own.attributes.add(key="gen_ai.operation.name").value.string_value = "evaluation"
    kept, _, intake = taken(("traces", traces(own), "protobuf"))
    assert not kept[0].envelope.is_needed
    assert intake.counts.own["traces"] == 1
