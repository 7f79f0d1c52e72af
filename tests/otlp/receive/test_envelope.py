"""What is known of a request before it is acknowledged."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from otel_eval.errors import InputError
from otel_eval.otlp.receive import gathering
from otel_eval.otlp.receive.envelope import Envelope, TraceEnvelope, session_trace_id
from otel_eval.otlp.receive.keys import EnvelopeKeys, Matcher
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.otlp.unpack import TooLarge
from tests.captures import capture, names
from tests.fakes.wire import SPAN, TRACE, json_logs, json_span, json_traces, logs, metrics, span, traces

KEYS = EnvelopeKeys(
    conversation_ids=("gen_ai.conversation.id", "session.id", "thread_id"),
    genai=("gen_ai.", "input.value", "event:app.said", "codex."),
)
READER = EnvelopeReader(KEYS)
CONVERSATION = {"gen_ai.conversation.id": "c"}


def with_attributes(made: Any, attributes: dict[str, Any]) -> Any:
    """The same message with attributes: texts, booleans and numbers."""
    for key, value in attributes.items():
        kind = {str: "string_value", bool: "bool_value", int: "int_value"}[type(value)]
        setattr(made.attributes.add(key=key).value, kind, value)
    return made


def of_spans(*spans: Any, service: str = "", scope: str = "scope") -> Envelope:
    """The envelope of a request with these spans, which is the same from protobuf and from JSON."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    with_attributes(group.resource, {"service.name": service} if service else {})
    part = group.scope_spans.add()
    part.scope.name = scope
    part.spans.extend(spans)
    found = READER.read("traces", request.SerializeToString(), "protobuf")
    assert READER.read("traces", json.dumps(json_of(request)).encode(), "json") == found
    return found


def of_logs(*records: dict[str, Any], attributes: dict[str, Any] | None = None, service: str = "") -> Envelope:
    """The envelope of a request with log records of the same attributes, which is the same from protobuf and from JSON."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    with_attributes(group.resource, {"service.name": service} if service else {})
    part = group.scope_logs.add()
    for fields in records:
        record = part.log_records.add(**{"time_unix_nano": 5, **{k: v for k, v in fields.items() if k != "body"}})
        record.body.string_value = fields.get("body", "")
        with_attributes(record, attributes or {})
    found = READER.read("logs", request.SerializeToString(), "protobuf")
    assert READER.read("logs", json.dumps(json_of(request)).encode(), "json") == found
    return found


def json_of(message: Any) -> Any:
    """A protobuf request as OTLP/JSON: ids in hexadecimal, everything else as protobuf has it."""
    out: dict[str, Any] = {}
    for field, value in message.ListFields():
        name = field.json_name
        if field.name in ("trace_id", "span_id", "parent_span_id"):
            out[name] = value.hex()
        elif field.message_type is not None:
            out[name] = [json_of(item) for item in value] if field.is_repeated else json_of(value)
        else:
            out[name] = str(value) if field.name.endswith("nano") else value
    return out


def only(envelope: Envelope) -> TraceEnvelope:
    assert len(envelope.traces) == 1
    return envelope.traces[0]


def test_a_trace_is_told_apart_from_others() -> None:
    """Spans are counted by trace, with the first and the last moment, whether the root is there and how it ended."""
    other = bytes(reversed(TRACE))
    found = of_spans(
        span(1, start_time_unix_nano=30, end_time_unix_nano=40, parent_span_id=SPAN),
        span(2, start_time_unix_nano=20, end_time_unix_nano=50, trace_state="ot=th:8"),
        span(3, trace_id=other, parent_span_id=SPAN, start_time_unix_nano=0),
        service="shop",
    )
    assert found.spans == 3
    assert found.traces == (
        TraceEnvelope(trace_id=TRACE.hex(), spans=2, root_ended=True, start_ns=20, end_ns=50, service="shop", trace_state="ot=th:8"),
        TraceEnvelope(trace_id=other.hex(), spans=1, service="shop"),
    )


def test_an_error_anywhere_is_seen() -> None:
    """A span with status ERROR marks its trace."""
    failed = span(1)
    failed.status.code = Status.STATUS_CODE_ERROR
    assert only(of_spans(failed, span(2))).has_error
    assert not only(of_spans(span(1))).has_error


@pytest.mark.parametrize(
    ("attributes", "ids", "rank"),
    [
        ({}, (), 0),
        ({"gen_ai.conversation.id": "c"}, ("c",), 0),
        ({"session.id": "s"}, ("s",), 1),
        ({"session.id": "s", "gen_ai.conversation.id": "c"}, ("c",), 0),
        ({"gen_ai.conversation.id": "", "session.id": "s"}, ("s",), 1),
        ({"gen_ai.conversation.id": "None", "session.id": " null "}, (), 0),
        ({"gen_ai.conversation.id": ' "quoted" '.strip()}, ("quoted",), 0),
        ({"gen_ai.conversation.id": "  c  "}, ("c",), 0),
        ({"gen_ai.conversation.id": 17}, ("17",), 0),
        ({"gen_ai.conversation.id": True}, (), 0),
        ({"thread_id": "t"}, ("t",), 2),
    ],
)
def test_the_conversation_is_found_under_any_spelling(attributes: dict[str, Any], ids: tuple[str, ...], rank: int) -> None:
    """The best spelling with a value counts, read as the dialects read it."""
    found = only(of_spans(with_attributes(span(), attributes)))
    assert (found.conversations, found.id_rank) == (ids, rank)


def test_the_best_spelling_of_the_trace_counts_with_all_its_values() -> None:
    """Within a trace the ids of the best spelling stand, all of them; worse spellings are put aside, whatever the order."""
    spans = [
        with_attributes(span(n), a)
        for n, a in enumerate([{"session.id": "s"}, CONVERSATION, {"gen_ai.conversation.id": "d"}, {"session.id": "s2"}], 1)
    ]
    for order in (spans, spans[::-1]):
        assert only(of_spans(*order)).conversations == ("c", "d")


SPELLINGS = st.sampled_from(["gen_ai.conversation.id", "session.id", "thread_id", "gen_ai.system", "input.value", "other"])
VALUES = st.sampled_from(["a", "b", ' "a" ', "null", "x" * 200, "ü", "", 7])
SPANS = st.lists(st.tuples(st.integers(1, 3), st.dictionaries(SPELLINGS, VALUES, max_size=3)), max_size=8)


@given(spans=SPANS)
@example(spans=[(1, {"session.id": "a", "gen_ai.system": "a"}), (1, {"session.id": "b"}), (2, {"session.id": "b"})])
def test_a_glance_finds_what_looking_at_every_span_finds(spans: list[tuple[int, dict[str, Any]]]) -> None:
    """Spans that need not be looked at are only passed over where nothing is lost by it: the envelope is the same from JSON."""
    for _ in range(2):  # a spelling is glanced for once it was met
        of_spans(*(with_attributes(span(n, trace_id=t.to_bytes(16, "big")), a) for n, (t, a) in enumerate(spans, 1)))


def test_ids_without_end_are_bounded() -> None:
    """An id of a book's length is no id; conversations beyond a thousand are counted and left out."""
    long = of_spans(with_attributes(span(), {"gen_ai.conversation.id": "x" * 2000, "session.id": "s"}))
    assert (only(long).conversations, dict(long.notes)) == (("s",), {"conversation_id_too_long": 1})
    many = of_spans(*(with_attributes(span(n), {"gen_ai.conversation.id": f"c{n}"}) for n in range(1, gathering.MOST_IDS + 6)))
    assert (len(only(many).conversations), dict(many.notes)) == (gathering.MOST_IDS, {"conversation_ids_beyond_limit": 5})


@pytest.mark.parametrize(
    ("attributes", "event", "is_genai"),
    [
        ({}, "", False),
        ({"http.method": "GET", "genai": "x", "gen_aix": "y"}, "exception", False),
        ({"gen_ai.system": "x"}, "", True),
        ({"input.value": "x"}, "", True),
        ({"input.value.more": "x"}, "", False),
        ({}, "gen_ai.choice", True),
        ({}, "app.said", True),
    ],
)
def test_genai_shows_in_names(attributes: dict[str, Any], event: str, is_genai: bool) -> None:
    """Names, prefixes and events that were named tell GenAI content, and nothing else does."""
    made = with_attributes(span(), attributes)
    if event:
        made.events.add(name=event)
    assert only(of_spans(made)).is_genai == is_genai


@pytest.mark.parametrize(("value", "is_marked"), [(True, True), ("yes", True), (1, True), (False, False), ("", False), ("false", False)])
def test_an_application_can_say_that_a_conversation_is_over(value: Any, is_marked: bool) -> None:
    """The end mark counts unless it is false or empty."""
    assert only(of_spans(with_attributes(span(), {"otel_eval.conversation.end": value}))).end_marked == is_marked


OWN = [
    ({"gen_ai.operation.name": "evaluation"}, "", "scope"),
    ({"gen_ai.evaluation.name": "m"}, "", "scope"),
    ({"otel_eval.result.id": "r"}, "", "scope"),
    ({"otel_eval.judge.model": "m"}, "", "scope"),
    ({"gen_ai.operation.name": "chat"}, "otel-eval", "scope"),
    ({"gen_ai.operation.name": "chat"}, "", "otel_eval"),
]


@pytest.mark.parametrize(("attributes", "service", "scope"), OWN)
def test_an_evaluators_span_opens_nothing(attributes: dict[str, Any], service: str, scope: str) -> None:
    """Whatever marks a span as an evaluator's: it is counted apart, and a request of such spans alone need not be kept."""
    found = of_spans(with_attributes(span(), {**attributes, **CONVERSATION}), service=service, scope=scope)
    assert (found.spans, found.own_spans, found.is_needed) == (1, 1, False)
    assert only(found) == TraceEnvelope(trace_id=TRACE.hex(), own_spans=1)


@pytest.mark.parametrize(
    "attributes", [{"otel_eval.reference.outcome": "x"}, {"otel_eval.conversation.end": True}, {"gen_ai.operation.name": "chat"}]
)
def test_what_an_application_says_to_us_is_not_ours(attributes: dict[str, Any]) -> None:
    """References and the end mark are written by applications: their spans are scored."""
    assert only(of_spans(with_attributes(span(), attributes))).spans == 1


def test_a_judged_span_that_carries_a_result_is_no_evaluators() -> None:
    """A result that was added to a span as an event leaves it the application's span."""
    made = with_attributes(span(), {"gen_ai.operation.name": "chat"})
    made.events.add(name="gen_ai.evaluation.result")
    assert only(of_spans(made)).spans == 1


def test_evaluators_and_others_in_one_trace() -> None:
    """An evaluation inside an application's trace does not make the trace an evaluator's."""
    judged = with_attributes(span(1), {"gen_ai.operation.name": "chat"})
    found = only(of_spans(judged, with_attributes(span(2, parent_span_id=SPAN), {"gen_ai.operation.name": "evaluation"})))
    assert (found.spans, found.own_spans) == (1, 1)


def test_a_log_record_joins_by_its_trace() -> None:
    """GenAI records count for their trace, with their time and conversation; a root they are not."""
    found = of_logs(
        {"trace_id": TRACE, "span_id": SPAN, "event_name": "gen_ai.choice", "time_unix_nano": 7}, attributes=CONVERSATION, service="shop"
    )
    assert only(found) == TraceEnvelope(
        trace_id=TRACE.hex(), logs=1, is_genai=True, start_ns=7, end_ns=7, conversations=("c",), service="shop"
    )


def test_a_log_record_without_time_has_that_of_its_observation() -> None:
    """The time it was observed stands in for one that is not set."""
    found = of_logs({"trace_id": TRACE, "event_name": "gen_ai.choice", "time_unix_nano": 0, "observed_time_unix_nano": 9})
    assert only(found).start_ns == 9


@pytest.mark.parametrize(
    ("fields", "attributes"),
    [
        ({"trace_id": TRACE, "body": "GET / 200"}, {"http.method": "GET"}),
        ({"event_name": "gen_ai.choice"}, {}),
        ({"trace_id": b"short", "event_name": "gen_ai.choice"}, {}),
        ({"body": "GET / 200"}, {"session.id": "s"}),
    ],
)
def test_an_idle_log_record_opens_nothing(fields: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Records without GenAI content, or without anything to join them by, are counted and open no trace."""
    found = of_logs(fields, attributes=attributes)
    assert (found.logs, found.idle_logs, found.traces, found.is_needed) == (1, 1, (), False)


@pytest.mark.parametrize(
    ("fields", "attributes"),
    [({"event_name": "codex.user_prompt"}, {}), ({"body": "codex.user_prompt"}, {}), ({}, {"event.name": "codex.tool_result"})],
)
def test_a_session_stands_for_a_trace_where_there_is_none(fields: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Records without trace ids that name a session are one unit: the session, under an id made from its own."""
    found = of_logs(fields, fields, attributes={**attributes, "session.id": "s"})
    unit = only(found)
    assert (unit.trace_id, unit.is_session, unit.logs, unit.conversations, unit.is_genai) == (session_trace_id("s"), True, 2, ("s",), True)
    assert len(unit.trace_id) == 32


OWN_LOGS = [
    ({"event_name": "gen_ai.evaluation.result"}, {}, ""),
    ({}, {"event.name": "gen_ai.evaluation.result"}, ""),
    ({"event_name": "gen_ai.choice"}, {"gen_ai.evaluation.name": "m"}, ""),
    ({"event_name": "gen_ai.choice"}, {"otel_eval.result.id": "r"}, ""),
    ({"event_name": "gen_ai.choice"}, {}, "otel-eval"),
]


@pytest.mark.parametrize(("fields", "attributes", "service"), OWN_LOGS)
def test_results_that_come_back_open_nothing(fields: dict[str, Any], attributes: dict[str, Any], service: str) -> None:
    """A result event carries the judged trace's id: it neither opens nor re-opens that trace."""
    found = of_logs({**fields, "trace_id": TRACE}, attributes=attributes, service=service)
    assert (found.own_logs, found.traces, found.is_needed) == (1, (), False)


def test_invalid_items_are_counted_and_the_others_taken() -> None:
    """A span with a bad id costs only itself, with the field's name."""
    found = READER.read("traces", traces(span(1), span(2, trace_id=b"short"), span(3, span_id=b""), span(4)), "protobuf")
    assert (found.spans, dict(found.rejected)) == (2, {"invalid_trace_id": 1, "invalid_span_id": 1})
    broken = json_traces(json_span(1), json_span(2, traceId="zz"), json_span(3, attributes=5), json_span(4))
    assert dict(READER.read("traces", json.dumps(broken).encode(), "json").rejected) == {"invalid_trace_id": 1, "malformed_span": 1}


def test_a_request_without_any_valid_span_is_still_one() -> None:
    """A traces request whose ids are all invalid is answered item by item, not refused as a whole."""
    assert dict(READER.read("traces", traces(span(1, trace_id=b"x")), "protobuf").rejected) == {"invalid_trace_id": 1}


WRONG = [
    ("traces", logs("one", "two")),
    ("traces", logs("")),
    ("traces", metrics()),
    ("logs", traces(span(1, end_time_unix_nano=5))),
    ("logs", metrics()),
    ("traces", b"\xff\xff\xff\xff"),
    ("logs", b"no protobuf at all"),
    ("traces", b"\x0a\x05\x0a"),
]


@pytest.mark.parametrize(("signal", "body"), WRONG)
def test_what_is_no_request_of_its_path_is_refused(signal: Any, body: bytes) -> None:
    """Another signal's request, and bytes that are none, are refused while the sender still has them."""
    with pytest.raises(InputError):
        READER.read(signal, body, "protobuf")


WRONG_JSON = [
    ("traces", b"", "JSON"),
    ("traces", b"[]", "an array"),
    ("traces", b"7", "a number"),
    ("traces", b'{"resourceSpans": 5}', "resourceSpans"),
    ("traces", b'{"resourceSpans": [5]}', "resourceSpans"),
    ("traces", b'{"resourceSpans": [', "JSON"),
    ("traces", json.dumps(json_logs({"timeUnixNano": "5"})).encode(), "resourceLogs"),
    ("logs", json.dumps(json_traces(json_span(1))).encode(), "resourceSpans"),
    ("logs", b'{"resourceMetrics": [{}]}', "resourceMetrics"),
]


@pytest.mark.parametrize(("signal", "body", "says"), WRONG_JSON)
def test_json_that_is_no_request_of_its_path_is_refused(signal: Any, body: bytes, says: str) -> None:
    """The same of JSON; the message says what was found."""
    with pytest.raises(InputError, match=says):
        READER.read(signal, body, "json")


EMPTY = [("protobuf", b""), ("protobuf", traces()), ("json", b"{}"), ("json", b'{"resourceSpans": []}'), ("json", b'{"unknown": [1]}')]


@pytest.mark.parametrize(("encoding", "body"), EMPTY)
def test_an_empty_request_is_one(encoding: Any, body: bytes) -> None:
    """Nothing at all, empty groups and unknown fields are a request without items."""
    assert READER.read("traces", body, encoding) == Envelope()


def test_json_of_both_signals_is_read_by_its_path() -> None:
    """What belongs to another path stands there as an unknown field, and is not read."""
    both = json_traces(json_span(1)) | json_logs({"timeUnixNano": "5"})
    found = READER.read("traces", json.dumps(both).encode(), "json")
    assert (found.spans, found.logs) == (1, 0)


def test_keys_in_snake_case_are_read_too() -> None:
    """Producers that do not keep to camel case lose nothing in silence."""
    body = {"resource_spans": [{"scope_spans": [{"spans": [{"trace_id": TRACE.hex(), "span_id": "01" * 8}]}]}]}
    assert READER.read("traces", json.dumps(body).encode(), "json").spans == 1


def test_traces_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with more traces than any sender batches is too large, whatever its bytes."""
    monkeypatch.setattr(gathering, "MOST_TRACES", 10)
    body = traces(*(span(1, trace_id=n.to_bytes(16, "big")) for n in range(1, 12)))
    with pytest.raises(TooLarge, match="more than 10 traces"):
        READER.read("traces", body, "protobuf")


def test_a_flood_of_names_is_forgotten() -> None:
    """Sets of attribute names are remembered up to a bound, and giant ones never."""
    matcher = Matcher(KEYS)
    for number in range(10_000):
        matcher.shape((f"name {number}",))
    assert len(matcher._shapes) <= 4096
    giant = tuple(f"n{n}" for n in range(100_000))
    matcher.shape(giant)
    assert giant not in matcher._shapes


def test_the_last_of_a_repeated_key_counts() -> None:
    """As in decoding, the last value of a key that stands twice is its value."""
    made = with_attributes(with_attributes(span(), {"gen_ai.conversation.id": "first"}), {"gen_ai.conversation.id": "last"})
    assert only(READER.read("traces", traces(made), "protobuf")).conversations == ("last",)


@given(body=st.binary(max_size=300), signal=st.sampled_from(["traces", "logs"]), encoding=st.sampled_from(["protobuf", "json"]))
def test_any_bytes_are_read_or_refused(body: bytes, signal: Any, encoding: Any) -> None:
    """Whatever comes, there is an envelope or an InputError, and nothing else."""
    try:
        READER.read(signal, body, encoding)
    except InputError:
        return


@pytest.mark.parametrize("name", names()[::4])
def test_it_counts_what_decoding_finds(name: str) -> None:
    """On captures of real instrumentations the envelope has the traces, counts and times that decoding gives."""
    one = capture(name)
    for file, body in one.requests.items():
        signal: Any = "logs" if "logs" in file else "traces"
        encoding: Any = "json" if file.endswith(".json") else "protobuf"
        if file.endswith(".json") and b"resourceMetrics" in body:
            continue
        found = READER.read(signal, body, encoding)
        batch = next(b for f, b in zip(sorted(one.requests), one.batches(), strict=True) if f == file)
        assert (found.spans, found.logs) == (len(batch.spans) if signal == "traces" else 0, len(batch.logs) if signal == "logs" else 0)
        if signal == "traces":
            assert {t.trace_id for t in found.traces} == {s.trace_id for s in batch.spans}
            roots = {s.trace_id for s in batch.spans if s.parent_span_id is None}
            assert {t.trace_id for t in found.traces if t.root_ended} == roots
