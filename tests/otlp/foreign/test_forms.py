"""All foreign forms together."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.model import Batch
from otel_eval.otlp.files import ReadReport, read_paths
from otel_eval.otlp.foreign import FORMS, form_of
from otel_eval.otlp.records import records_from_value
from otel_eval.otlp.tally import Tally
from tests.fakes.wire import shared

WITHOUT_SPANS = ("chatml.json", "capture-results.json")
CONVERSATIONS = ("eval_set_helm.json", "evalset_k8s_2026-02-20.json")


def test_bare_attributes_are_a_span() -> None:
    """A file that is the attributes of one span is that span; an object of another kind is none."""
    data = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "input": "{}"}
    (batch,) = records_from_value(data, Tally())
    assert isinstance(batch, Batch)
    assert (batch.spans[0].attributes, batch.notes) == (data, {"missing_id": 1})
    for other in ({"a.b": 1}, {"gen_ai.x": 1, "b": 2, "c": 3}, {"gen_ai.x": {"y": 1}}):
        assert form_of(other) is None


def test_forms_have_different_names() -> None:
    """Each form is in the table once."""
    assert len({form.name for form in FORMS}) == len(FORMS)


def test_every_real_file_with_spans_is_read() -> None:
    """Each JSON file of the trace collection that holds spans gives them all; sets of cases are conversations, the others are unknown."""
    for path in sorted(shared("data/otel_traces").rglob("*.json")):
        report = ReadReport()
        spans = [span for record in read_paths([path], report=report) if isinstance(record, Batch) for span in record.spans]
        if path.name.endswith(WITHOUT_SPANS):
            assert (spans, len(report.errors)) == ([], 1), path
        elif path.name.endswith(CONVERSATIONS):
            assert (spans, report.items, report.errors) == ([], {"conversation": 1}, []), path
        else:
            assert spans, path
            assert (report.rejected, report.errors) == ({}, []), path
            assert len({(span.trace_id, span.span_id) for span in spans}) == len(spans), path


SHARED_KEYS = ["data", "spans", "trace", "observations", "batches", "resourceSpans", "messages", "resource", "attributes", "input"]
IDS = ["traceID", "spanID", "traceId", "trace_id", "span_id", "id", "parentObservationId", "context", "spanContext", "processID"]
PARTS = ["tags", "references", "logs", "processes", "process", "metadata", "scope", "events", "links", "status", "body", "kind", "name"]
NUMBERS = ["start_time", "startTime", "duration", "severity_number", "gen_ai.x"]
keys = st.sampled_from(SHARED_KEYS + IDS + PARTS + NUMBERS)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just("a" * 16),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=25,
)


@given(values)
def test_any_json_is_survived(value: Any) -> None:
    """Whatever JSON holds under the keys of all forms, nothing is raised."""
    for record in records_from_value(value, Tally()):
        assert isinstance(record, (Batch, dict))


@given(values)
def test_any_item_leaves_its_neighbours_alone(value: Any) -> None:
    """A good span before and after anything else in a list is read."""
    good = {"trace_id": "c" * 32, "span_id": "d" * 16, "name": "good"}
    records = list(records_from_value([good, value, good], Tally()))
    assert sum(span.name == "good" for record in records if isinstance(record, Batch) for span in record.spans) >= 2
