"""The conventions in all their generations. Semconv traps T1, T5, T14, T16, T20; field bugs A2, A3, A7, A8, A11."""

from collections.abc import Sequence
from typing import Any

import pytest

from otel_eval.model import GapReason, LogRecord, Span, SpanEvent, Step, StepKind
from tests.fakes.spans import (
    DETAILS,
    call,
    chat,
    event,
    line,
    log,
    only,
    reasons,
    result,
    says,
    span,
    step_of,
    system,
    talk,
    to_json,
    tool,
    user,
)

CALL = call("weather", {"city": "Lisbon"}, "c1")
GIVEN = [system("Be brief."), user("Hi")]
TOLD = ["system: Be brief.", "user: Hi", "assistant: Let me see. -> weather(city='Lisbon')"]
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
KNOWN = {"gen_ai.operation.name": "chat"}


def told(step: Step) -> list[str]:
    """What a step says, system first."""
    content = step.content
    words = [f"system: {content.system}"] if content.system else []
    return [*words, *(line(m) for m in (*(content.input or ()), *(content.output or ())))]


def structured(value: Any) -> dict[str, Any]:
    return {"gen_ai.input.messages": value[0], "gen_ai.output.messages": value[1]}


CONTENT: dict[str, dict[str, Any]] = {
    "JSON text": structured([to_json(GIVEN), to_json([says("Let me see.", CALL)])]),
    "structured": structured([GIVEN, [says("Let me see.", CALL)]]),
    "texts in a list": structured([[to_json(m) for m in GIVEN], [to_json(says("Let me see.", CALL))]]),
    "doubly encoded": structured([to_json(to_json(GIVEN)), to_json(to_json([says("Let me see.", CALL)]))]),
    "one object": structured([to_json(GIVEN), to_json(says("Let me see.", CALL))]),
    "openai form": structured(
        [
            to_json([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]),
            to_json([{"role": "assistant", "content": "Let me see.", "tool_calls": [OPENAI_CALL]}]),
        ]
    ),
    "instructions apart": {
        **structured([to_json(GIVEN[1:]), to_json([says("Let me see.", CALL)])]),
        "gen_ai.system_instructions": to_json([{"type": "text", "content": "Be brief."}]),
    },
    "instructions as text": {
        **structured([to_json(GIVEN[1:]), to_json([says("Let me see.", CALL)])]),
        "gen_ai.system_instructions": "Be brief.",
    },
}


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
def test_generation_c_on_the_span(content: dict[str, Any]) -> None:
    """C: messages as attributes of the span, in every encoding."""
    assert told(step_of(span(1, {**KNOWN, **content}))) == TOLD


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
def test_generation_c_in_a_log_record(content: dict[str, Any]) -> None:
    """A2: the same on the record `gen_ai.client.inference.operation.details` of the span."""
    assert told(step_of(span(1, KNOWN), log(1, DETAILS, attributes=content))) == TOLD


@pytest.mark.parametrize("content", CONTENT.values(), ids=CONTENT)
def test_generation_c_in_a_span_event(content: dict[str, Any]) -> None:
    """A2, T1: the same on a span event of that name."""
    assert told(step_of(span(1, KNOWN, events=[SpanEvent(name=DETAILS, attributes=content)]))) == TOLD


def test_generation_c_in_several_span_events() -> None:
    """T1: Strands writes instructions, inputs and outputs as an event each: all of a span's are one."""
    content = CONTENT["instructions apart"]
    events = [SpanEvent(name=DETAILS, attributes={k: v}) for k, v in content.items()]
    assert told(step_of(span(1, KNOWN, events=events))) == TOLD


def test_content_in_two_places_is_told_once() -> None:
    """SPAN_AND_EVENT writes everything twice: one source a field is read, the span first."""
    got = only(chat(1, GIVEN, says("Let me see.", CALL)), log(1, DETAILS, attributes=CONTENT["structured"]))
    assert talk(got) == TOLD[1:]


B_EVENTS: Sequence[tuple[str, dict[str, Any]]] = [
    ("gen_ai.system.message", {"content": "Be brief."}),
    ("gen_ai.user.message", {"content": "Hi"}),
    ("gen_ai.choice", {"index": 0, "finish_reason": "tool_calls", "message": {"content": "Let me see.", "tool_calls": [OPENAI_CALL]}}),
]


def test_generation_b_as_log_records() -> None:
    """B: one record a message, the body as a map."""
    logs = [log(1, name, body, at=1 + place / 10) for place, (name, body) in enumerate(B_EVENTS)]
    assert told(step_of(span(1, KNOWN), *logs)) == TOLD


def test_generation_b_with_calls_beside_the_message() -> None:
    """B, v1.30: the calls of a choice stand beside its message."""
    choice = {"index": 0, "message": {"content": "Let me see."}, "tool_calls": [OPENAI_CALL]}
    logs = [log(1, n, b) for n, b in (*B_EVENTS[:2], ("gen_ai.choice", choice))]
    assert told(step_of(span(1, KNOWN), *logs)) == TOLD


def test_generation_b_without_event_names() -> None:
    """Older records carry their name in the attribute `event.name`, which decoding has put in its place; the body may be JSON text."""
    logs = [log(1, name, to_json(body)) for name, body in B_EVENTS]
    assert told(step_of(span(1, KNOWN), *logs)) == TOLD


def test_generation_b_as_span_events_of_strands() -> None:
    """T1: Strands' legacy mode: span events with `content` as the JSON of Bedrock blocks."""
    events = [
        SpanEvent(name="gen_ai.system.message", attributes={"content": to_json([{"text": "Be brief."}])}),
        SpanEvent(name="gen_ai.user.message", attributes={"content": to_json([{"text": "Hi"}])}),
        SpanEvent(
            name="gen_ai.choice",
            attributes={
                "message": to_json(
                    [{"text": "Let me see."}, {"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Lisbon"}}}]
                ),
                "finish_reason": "tool_use",
            },
        ),
    ]
    assert told(step_of(span(1, KNOWN, events=events))) == TOLD


def test_generation_b_as_span_events_of_azure() -> None:
    """T1: Azure SDKs: span events with `gen_ai.event.content` = the JSON of the message."""
    contents = [
        ("gen_ai.system.message", {"role": "system", "content": "Be brief."}),
        ("gen_ai.user.message", {"role": "user", "content": "Hi"}),
        ("gen_ai.choice", {"index": 0, "message": {"content": "Let me see.", "tool_calls": [OPENAI_CALL]}}),
    ]
    events = [SpanEvent(name=n, attributes={"gen_ai.event.content": to_json(c)}) for n, c in contents]
    assert told(step_of(span(1, KNOWN, events=events))) == TOLD


def test_generation_b_tool_messages_carry_their_id() -> None:
    """B: `id` of a tool message is the call's id."""
    logs = [
        log(1, "gen_ai.assistant.message", {"tool_calls": [OPENAI_CALL]}, at=1),
        log(1, "gen_ai.tool.message", {"id": "c1", "content": "sunny"}, at=1.1),
        log(1, "gen_ai.choice", {"message": {"content": "Sunny."}}, at=1.2),
    ]
    assert told(step_of(span(1, KNOWN), *logs)) == ["assistant: -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sunny."]


@pytest.mark.parametrize("role", ["developer", "system"])
def test_generation_b_takes_the_role_from_the_body(role: str) -> None:
    """T20: event names built from raw roles, and roles that the body names."""
    assert told(step_of(span(1, KNOWN), log(1, f"gen_ai.{role}.message", {"content": "Be brief.", "role": role}))) == ["system: Be brief."]


def test_generation_b_of_google() -> None:
    """T20: google-genai writes every content as a user message with its own role, and a choice without `message`."""
    bodies = [
        ("gen_ai.user.message", {"content": {"role": "user", "parts": [{"text": "Hi"}]}}),
        (
            "gen_ai.user.message",
            {"content": {"role": "model", "parts": [{"function_call": {"name": "weather", "args": {"city": "Lisbon"}}}]}},
        ),
        ("gen_ai.user.message", {"content": {"role": "user", "parts": [{"function_response": {"name": "weather", "response": "sunny"}}]}}),
        ("gen_ai.choice", {"index": 0, "content": {"role": "model", "parts": [{"text": "Sunny."}]}, "finish_reason": "STOP"}),
    ]
    logs = [log(1, n, b, at=1 + p / 10) for p, (n, b) in enumerate(bodies)]
    assert told(step_of(span(1, KNOWN), *logs)) == ["user: Hi", "assistant: -> weather(city='Lisbon')", "tool: sunny", "assistant: Sunny."]


def test_generation_b_of_vertex() -> None:
    """T20: Vertex repeats the function call among the parts and in `tool_calls`: it is one call."""
    call_part = {"function_call": {"name": "weather", "args": {"city": "Lisbon"}}}
    body = {
        "message": {"role": "model", "content": [{"text": "Let me see."}, call_part]},
        "tool_calls": [{"id": "weather_0", "type": "function", "function": {"name": "weather", "arguments": {"city": "Lisbon"}}}],
    }
    assert told(step_of(span(1, KNOWN), log(1, "gen_ai.choice", body))) == TOLD[2:]


def test_generation_b_with_content_off_keeps_names_and_ids() -> None:
    """T5: without content, assistant and choice events still tell which tools were called."""
    bare = {"id": "c1", "type": "function", "function": {"name": "weather"}}
    step = step_of(
        span(1, KNOWN), log(1, "gen_ai.choice", {"index": 0, "finish_reason": "tool_calls", "tool_calls": [bare], "message": {}})
    )
    (message,) = step.content.output or ()
    assert [(c.id, c.name, c.arguments) for c in message.tool_calls] == [("c1", "weather", None)]


def test_generation_b_orders_by_time_then_by_arrival() -> None:
    """T12: records have one time or none; observed times and arrival decide."""
    bodies = [("gen_ai.user.message", "1"), ("gen_ai.assistant.message", "2"), ("gen_ai.user.message", "3")]
    same = [log(1, n, {"content": t}, at=1, order=p) for p, (n, t) in enumerate(bodies)]
    observed = [log(1, n, {"content": t}, observed=1 + p / 10) for p, (n, t) in enumerate(bodies)]
    for logs in (same, observed, list(reversed(observed))):
        got = only(chat(1, None, says("4")), *logs)
        assert [t[-1] for t in talk(got)] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "one",
    [
        span(
            1,
            KNOWN,
            events=[
                event("gen_ai.content.prompt", gen_ai__prompt='[{"role": "user", "content": "Hi"}]'),
                event("gen_ai.content.completion", gen_ai__completion='[{"role": "assistant", "content": "Hello."}]'),
            ],
        ),
        span(
            1,
            KNOWN,
            events=[
                event("gen_ai.content.prompt", gen_ai__prompt="[{'role': 'user', 'content': 'Hi'}]"),
                event("gen_ai.content.completion", gen_ai__completion="[{'role': 'assistant', 'content': 'Hello.'}]"),
            ],
        ),
        span(
            1,
            {
                **KNOWN,
                "gen_ai.prompt": '[{"role": "user", "content": "Hi"}]',
                "gen_ai.completion": '[{"role": "assistant", "content": "Hello."}]',
            },
        ),
        span(1, {**KNOWN, "gen_ai.prompt": "Hi", "gen_ai.completion": "Hello."}),
    ],
    ids=["events", "single quotes", "attributes", "plain texts"],
)
def test_generation_a(one: Span) -> None:
    """A: prompt and completion as JSON texts, with the quotes of Python too."""
    assert told(step_of(one)) == ["user: Hi", "assistant: Hello."]


OPERATIONS = [
    ("chat", StepKind.INFERENCE),
    ("generate_content", StepKind.INFERENCE),
    ("text_completion", StepKind.INFERENCE),
    ("execute_tool", StepKind.TOOL),
    ("invoke_agent", StepKind.AGENT),
    ("invoke_workflow", StepKind.WORKFLOW),
    ("handle_conversation_turn", StepKind.WORKFLOW),
    ("create_agent", StepKind.OTHER),
    ("embeddings", StepKind.EMBEDDINGS),
    ("retrieval", StepKind.RETRIEVAL),
    ("evaluation", StepKind.EVALUATION),
    ("plan", StepKind.WRAPPER),
]


@pytest.mark.parametrize(("operation", "kind"), OPERATIONS)
def test_the_operation_tells_the_kind(operation: str, kind: StepKind) -> None:
    """A8: the kind of a span is its operation, whatever its name says."""
    assert step_of(span(1, {"gen_ai.operation.name": operation}, name="something")).kind is kind


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"}, StepKind.TOOL),
        ({"gen_ai.system": "openai", "gen_ai.request.model": "m"}, StepKind.INFERENCE),
        ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3}, StepKind.INFERENCE),
        ({"gen_ai.agent.name": "desk"}, StepKind.AGENT),
        ({"gen_ai.input.messages": "[]"}, StepKind.INFERENCE),
    ],
)
def test_without_an_operation_the_attributes_tell_the_kind(attributes: dict[str, Any], kind: StepKind) -> None:
    """A8: tool attributes before a model, a model before an agent's name."""
    assert step_of(span(1, attributes, name="something")).kind is kind


@pytest.mark.parametrize("scope", ["ai", "openinference.instrumentation.openai", "my.own.scope", ""])
def test_attributes_decide_not_the_scope(scope: str) -> None:
    """A3, A11: a span is read by what it carries, whoever emitted it."""
    one = chat(1, GIVEN, says("Let me see.", CALL))
    step = step_of(span(1, one.attributes, name="ai.streamText.doStream", scope=type(one.scope)(name=scope)))
    assert told(step) == TOLD


SLOTS: list[tuple[str, Any, str]] = [
    ("gen_ai.input.messages", to_json([user("Hi")]), "input"),
    ("gen_ai.output.messages", to_json([says("Hi")]), "output"),
    ("gen_ai.system_instructions", to_json([{"type": "text", "content": "Hi"}]), "system"),
    ("gen_ai.tool.definitions", to_json([{"type": "function", "name": "weather"}]), "tool_definitions"),
    ("gen_ai.tool.call.arguments", '{"city": "Lisbon"}', "tool_call"),
    ("gen_ai.tool.call.result", "sunny", "tool_result"),
]


@pytest.mark.parametrize(("name", "value", "slot"), SLOTS, ids=[n for n, _, _ in SLOTS])
def test_every_attribute_lands_in_its_own_slot(name: str, value: Any, slot: str) -> None:
    """A7: no content attribute is filed under another side: each fills its own field and no other."""
    is_tool = "tool.call" in name
    known = {"gen_ai.operation.name": "execute_tool" if is_tool else "chat", name: value}
    content = step_of(span(1, known)).content
    filled = {
        s for s in ("input", "output", "system", "tool_definitions", "tool_call", "tool_result") if getattr(content, s) not in (None, ())
    }
    assert filled - ({"tool_call"} if is_tool else set()) == ({slot} - ({"tool_call"} if is_tool else set()))
    assert slot in filled


def test_metadata_of_a_call_is_read() -> None:
    """Model, provider, ids, finish reasons and tokens, in old and new names."""
    new = step_of(
        span(
            1,
            {
                **KNOWN,
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "m",
                "gen_ai.response.model": "m-1",
                "gen_ai.response.id": "r1",
                "gen_ai.request.previous_response.id": "r0",
                "gen_ai.response.finish_reasons": ["tool_calls"],
                "gen_ai.usage.input_tokens": 3,
                "gen_ai.usage.output_tokens": 2,
            },
        )
    )
    assert (new.provider, new.model, new.response_id, new.previous_response_id) == ("openai", "m-1", "r1", "r0")
    assert (new.finish_reasons, new.usage.input_tokens, new.usage.output_tokens) == (("tool_calls",), 3, 2)
    old = step_of(
        span(
            1,
            {
                "gen_ai.system": "openai",
                "gen_ai.request.model": "m",
                "gen_ai.usage.prompt_tokens": 3,
                "gen_ai.usage.completion_tokens": 2,
                "gen_ai.response.finish_reasons": '["stop"]',
            },
        )
    )
    assert (old.provider, old.finish_reasons, old.usage.input_tokens, old.usage.output_tokens) == ("openai", ("stop",), 3, 2)


@pytest.mark.parametrize("content", ["[]", [], "", "null", None, {}])
def test_content_that_is_empty_or_null(content: Any) -> None:
    """A9: null, "null" and empty values say nothing, and break nothing."""
    step = step_of(span(1, {**KNOWN, "gen_ai.input.messages": content, "gen_ai.output.messages": content}))
    assert not step.content.input
    assert not step.content.output


def test_no_content_names_the_gap() -> None:
    """T5: a model call without content says that content was not captured."""
    assert reasons(step_of(chat(1)).content.gaps) == {GapReason.CONTENT_NOT_CAPTURED}


def test_content_of_a_tool_in_details_events() -> None:
    """A12, T1: Strands' latest mode tells call and result of a tool in details events."""
    events = [
        SpanEvent(name=DETAILS, attributes={"gen_ai.input.messages": to_json([{"role": "tool", "parts": [CALL]}])}),
        SpanEvent(name=DETAILS, attributes={"gen_ai.output.messages": to_json([result("sunny", "c1")])}),
    ]
    step = step_of(tool(1, "weather", call_id="c1", events=events))
    assert step.content.tool_call is not None
    assert step.content.tool_result is not None
    assert (dict(step.content.tool_call.arguments or {}), step.content.tool_result.content) == ({"city": "Lisbon"}, "sunny")


def test_logs_of_a_span_that_never_came_are_still_told() -> None:
    """T14: content of an unsampled trace arrives without its span; it is a talk all the same."""
    got = only(log(1, DETAILS, attributes=CONTENT["structured"]))
    assert talk(got) == TOLD[1:]


def test_logs_without_ids_join_nothing() -> None:
    """T14: a record without trace and span id is counted; no time is guessed by."""
    loose: LogRecord = log(1, DETAILS, attributes=CONTENT["structured"], trace_id=None, span_id=None)
    assert not only(chat(1), loose).has_content


@pytest.mark.parametrize("value", ['"42"', "42", 42, {"n": 42}, '{"n": 42}', "plain words", ["a", "b"]])
def test_results_of_a_tool_span_in_every_form(value: Any) -> None:
    """`gen_ai.tool.call.result` is text, a JSON text or a value; all come out as text."""
    step = step_of(span(1, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t", "gen_ai.tool.call.result": value}))
    assert step.content.tool_result is not None
    assert step.content.tool_result.content in ("42", '{"n": 42}', "plain words", "a\nb", '["a", "b"]')
