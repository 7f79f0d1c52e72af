"""Langfuse's export of a trace."""

import json
from typing import Any

import pytest

from otel_eval.model import Batch, Scope, Span
from otel_eval.otlp.records import records_from_value
from otel_eval.otlp.tally import Tally
from tests.fakes.wire import shared

TRACE_ID, SPAN_ID, PARENT_ID = "8e419d3288419b5d944270505640e183", "2406e8343fd49c0e", "4cd6caa32861956a"
METADATA = {
    "attributes": {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "44"},
    "resourceAttributes": {"service.name": "shop"},
    "scope": {"name": "agent_framework", "version": "1.0", "attributes": {}},
    "langgraph_step": 1,
}
OBSERVATION: dict[str, Any] = {
    "id": SPAN_ID,
    "traceId": TRACE_ID,
    "parentObservationId": PARENT_ID,
    "type": "GENERATION",
    "name": "chat m",
    "startTime": "2023-11-14T22:13:20.000Z",
    "endTime": "2023-11-14T22:13:20.500Z",
    "level": "DEFAULT",
    "statusMessage": None,
    "model": "m",
    "usageDetails": {"input": 44},
    "input": '[{"role":"user"}]',
    "output": [{"role": "assistant"}],
    "metadata": json.dumps(METADATA),
}
TRACE = {"id": TRACE_ID, "name": "trip", "sessionId": "s", "userId": None}


def read(*observations: Any, trace: Any = TRACE) -> Batch:
    (batch,) = records_from_value({"trace": trace, "observations": list(observations)}, Tally())
    assert isinstance(batch, Batch)
    return batch


EXPECTED = Span(
    trace_id=TRACE_ID,
    span_id=SPAN_ID,
    parent_span_id=PARENT_ID,
    name="chat m",
    start_ns=1_700_000_000 * 10**9,
    end_ns=1_700_000_000 * 10**9 + 500_000_000,
    attributes={
        "session.id": "s",
        "langfuse.trace.name": "trip",
        "langfuse.observation.type": "generation",
        "langfuse.observation.model.name": "m",
        "langfuse.observation.usage_details": '{"input": 44}',
        "langfuse.observation.input": '[{"role":"user"}]',
        "langfuse.observation.output": '[{"role": "assistant"}]',
        "langfuse.observation.metadata.langgraph_step": "1",
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": "44",
    },
    scope=Scope(name="agent_framework", version="1.0", resource={"service.name": "shop"}),
)


def test_an_observation_is_the_span_it_was() -> None:
    """Ids, times, attributes, resource and scope come from the observation and its metadata; its own fields go under Langfuse's names."""
    assert read(OBSERVATION) == Batch(spans=(EXPECTED,))


def test_metadata_may_be_an_object_or_unreadable() -> None:
    """Metadata as an object is the same; what cannot be read leaves the span without its attributes."""
    assert read(OBSERVATION | {"metadata": METADATA}).spans == (EXPECTED,)
    unreadable: tuple[Any, ...] = (None, "{broken", "text", 5, [])
    for broken in unreadable:
        assert read(OBSERVATION | {"metadata": broken}).spans[0].scope == Scope()


CONTENT = [
    ({"gen_ai.input.messages": "[]"}, False, True),
    ({"llm.input_messages.0.message.role": "user"}, False, True),
    ({"output.value": "x"}, True, False),
    ({"events": "[]"}, False, False),
    ({"ai.prompt.tools": "[]"}, True, True),
    ({"gen_ai.prompt_name": "x"}, True, True),
]


@pytest.mark.parametrize(("attributes", "has_input", "has_output"), CONTENT)
def test_input_and_output_stand_in_only_where_content_is_missing(attributes: dict[str, str], has_input: bool, has_output: bool) -> None:
    """Where the original attributes still hold the input or the output, the observation's own is not put beside it."""
    got = read(OBSERVATION | {"metadata": METADATA | {"attributes": attributes}}).spans[0].attributes
    assert ("langfuse.observation.input" in got, "langfuse.observation.output" in got) == (has_input, has_output)


def test_an_error_level_is_an_error_status() -> None:
    """`level: ERROR` is the status, its message the status message."""
    span = read(OBSERVATION | {"level": "ERROR", "statusMessage": "bad"}).spans[0]
    assert (span.status_code, span.status_message) == (2, "bad")


def test_an_open_observation_has_no_end() -> None:
    """A null end is None, a null parent is none."""
    span = read(OBSERVATION | {"endTime": None, "parentObservationId": None}).spans[0]
    assert (span.end_ns, span.parent_span_id) == (None, None)


def test_a_trace_that_holds_its_observations_is_read() -> None:
    """The answer for one trace, and an observation alone, are the same span."""
    assert list(records_from_value(TRACE | {"observations": [OBSERVATION]}, Tally())) == [Batch(spans=(EXPECTED,))]
    (alone,) = records_from_value(OBSERVATION, Tally())
    assert isinstance(alone, Batch)
    assert alone.spans[0].span_id == SPAN_ID


def test_a_broken_observation_costs_only_itself() -> None:
    """Observations around a broken one are read, in order."""
    batch = read(OBSERVATION, {"traceId": TRACE_ID}, 7, OBSERVATION | {"startTime": "soon"}, OBSERVATION)
    assert batch.spans == (EXPECTED, EXPECTED)
    assert batch.rejected == {"invalid_span_id": 1, "malformed_span": 2}


def test_real_exports_are_read() -> None:
    """Exports of many frameworks: one span an observation, nothing rejected, parents that exist, and content where there was some."""
    folders = [shared(f"data/otel_traces/{name}") for name in ("langfuse_framework_traces", "langfuse_seed_traces")]
    paths = [path for folder in folders for path in folder.glob("*.json") if "chatml" not in path.name]
    assert len(paths) > 10
    for path in paths:
        data = json.loads(path.read_text())
        (batch,) = records_from_value(data, Tally())
        assert isinstance(batch, Batch)
        assert (len(batch.spans), batch.rejected) == (len(data["observations"]), {}), path
        ids = {span.span_id for span in batch.spans}
        assert all(span.parent_span_id in ids for span in batch.spans if span.parent_span_id), path
        assert any("input" in key or "events" in key for span in batch.spans for key in span.attributes), path
