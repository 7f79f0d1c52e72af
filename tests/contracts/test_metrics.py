"""What every registered metric keeps to, whatever the conversation."""

import asyncio
import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_eval.errors import JudgeError
from otel_eval.judges.heuristic import HeuristicJudge
from otel_eval.metrics import BUILTIN, SIGNALS, builtin_metric
from otel_eval.metrics.base import Metric, MetricInput
from otel_eval.metrics.requirements import parameter_problems
from otel_eval.model import (
    Conversation,
    Failed,
    FailReason,
    Gap,
    GapReason,
    Message,
    Opaque,
    Outcome,
    Reasoning,
    Reference,
    Role,
    Score,
    Skipped,
    SkipReason,
    Text,
    ToolCall,
    ToolResult,
    ToolRun,
    TurnReference,
    Usage,
)
from tests.fakes.conversations import conversation

WORDS = st.sampled_from(
    [
        "",
        " ",
        "Hi",
        "Thanks, bye!",
        "Book a table",
        "예약해 주세요",
        "请取消订单",
        "Error: no",
        "[]",
        "I cannot do that",
        "\ud800",
        "x" * 3000,
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.none() | st.dictionaries(st.sampled_from(["a", "b", "이름"]), JSON, max_size=3)
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from([None, "1", "2"]),
    name=st.sampled_from([None, "", "search", "예약"]),
    arguments=ARGUMENTS,
    raw=st.none() | WORDS,
)
RESULTS = st.builds(
    ToolResult, call_id=st.sampled_from([None, "1", "2"]), content=st.none() | WORDS, is_error=st.sampled_from([None, True, False])
)
PARTS = st.builds(Text, text=WORDS) | CALLS | st.builds(Reasoning, text=st.none() | WORDS) | st.just(Opaque(type="odd"))
ROLES: list[Role] = ["user", "assistant"]
MESSAGES = st.builds(Message, role=st.sampled_from(ROLES), parts=st.lists(PARTS, max_size=3).map(tuple)) | st.builds(
    lambda result: Message(role="tool", parts=(result,)), RESULTS
)
USAGE = st.builds(Usage, input_tokens=st.none() | st.integers(0, 10**9), output_tokens=st.none() | st.integers(0, 10**9))
GAPS = st.lists(st.builds(Gap, reason=st.sampled_from(list(GapReason)), where=st.just("gen_ai.input.messages")), max_size=1).map(tuple)
TURN_REFERENCES = st.builds(TurnReference, response=st.none() | WORDS, tool_calls=st.none() | st.lists(CALLS, max_size=3).map(tuple))
REFERENCES = st.builds(
    Reference,
    outcome=st.none() | WORDS,
    tool_calls=st.none() | st.lists(CALLS, max_size=4).map(tuple),
    topics=st.none() | st.just(("restaurants", "예약")),
    response=st.none() | WORDS,
    turns=st.none() | st.lists(TURN_REFERENCES, max_size=3).map(tuple),
)


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Anything that assembly could build, and more."""
    run = ToolRun(call_id="1", name="search", source=None, is_error=draw(st.sampled_from([None, True])))  # type: ignore[arg-type]  # unread
    return conversation(
        *draw(st.lists(MESSAGES, min_size=1, max_size=8)),
        usage=draw(USAGE),
        gaps=draw(GAPS),
        models=draw(st.sampled_from([(), ("m",)])),
        model_calls=draw(st.integers(0, 3)),
        tool_runs=(run,),
        start_ns=draw(st.integers(0, 2)),
        end_ns=draw(st.integers(0, 10**10)),
    )


METRICS = [pytest.param(builtin_metric(name), id=name) for name in BUILTIN]


def question(metric: Metric) -> dict[str, Any]:
    return {"question": "Is the answer polite?"} if "question" in metric.card.needs else {}


def outcome_of(metric: Metric, given: MetricInput) -> Outcome:
    """The outcome; a judge that gives no verdict is the one exception a metric lets through, for scoring to make a value of."""
    try:
        return asyncio.run(metric.score(given))
    except JudgeError as error:
        return Failed(error_type=FailReason(error.reason), detail=str(error))


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(talk=conversations(), reference=REFERENCES, by_turn=st.booleans())
def test_any_conversation_gives_an_outcome_inside_the_card(metric: Metric, talk: Conversation, reference: Reference, by_turn: bool) -> None:
    """A metric never raises, stays inside its range and labels, points at messages that are there, and fails by no fault of its own."""
    turn = 0 if by_turn else None
    outcome = outcome_of(
        metric,
        MetricInput(conversation=talk, reference=reference, judge=HeuristicJudge(), parameters=question(metric), turn=turn),
    )
    assert isinstance(outcome, Score | Skipped | Failed)
    if isinstance(outcome, Score):
        low, high = metric.card.range
        assert math.isfinite(outcome.value)
        assert low <= outcome.value <= high
        assert outcome.label in (metric.card.labels or (None,)) or outcome.label is None
        assert all(0 <= index < len(talk.messages) for index in outcome.evidence)
        json.dumps(dict(outcome.details))
    if isinstance(outcome, Failed):
        assert outcome.error_type is not FailReason.METRIC_ERROR


@pytest.mark.parametrize("metric", METRICS)
def test_an_empty_conversation_is_skipped(metric: Metric) -> None:
    """Nothing was said, so nothing is judged, whatever reference there is."""
    reference = Reference(outcome="done", tool_calls=(ToolCall(name="a", arguments={}),), topics=("a",), response="done")
    given = MetricInput(conversation=Conversation(id="c"), reference=reference, judge=HeuristicJudge(), parameters=question(metric))
    outcome = outcome_of(metric, given)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.NOTHING_TO_JUDGE


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_needed_and_missing_is_skipped(metric: Metric) -> None:
    """A metric with needs says which one is missing; it asks no judge and gives no 0."""
    talk = conversation(Message(role="user", parts=(Text(text="Hi"),)), Message(role="assistant", parts=(Text(text="Hello"),)))
    outcome = outcome_of(metric, MetricInput(conversation=talk))
    if metric.card.needs:
        assert isinstance(outcome, Skipped)
        assert outcome.reason is SkipReason.NEEDS_MISSING
        assert outcome.detail


@pytest.mark.parametrize("metric", METRICS)
def test_the_card_is_whole(metric: Metric) -> None:
    """Name, version, sentence, source and example are there; range and labels make sense; defaults are allowed values."""
    card = metric.card
    assert card.name in BUILTIN
    assert builtin_metric(card.name).card == card
    assert all((card.version, card.source, card.example))
    assert card.sentence.endswith(".")
    assert card.range[0] < card.range[1]
    defaults = {p.name: p.default for p in card.parameters if p.default is not None}
    assert parameter_problems(card, defaults) == ()
    assert all(p.sentence.endswith(".") for p in card.parameters)


@pytest.mark.parametrize("metric", METRICS)
def test_an_unknown_parameter_is_refused(metric: Metric) -> None:
    """A misspelled parameter is no silent default."""
    outcome = outcome_of(metric, MetricInput(conversation=conversation(), parameters={"no_such_parameter": 1}))
    assert isinstance(outcome, Failed)
    assert "no_such_parameter" in outcome.detail


def test_signals_need_nothing() -> None:
    """A signal can be measured on every conversation: no judge, no reference, the same number each time."""
    assert len(SIGNALS) >= 15
    for name in SIGNALS:
        card = builtin_metric(name).card
        assert card.deterministic
        assert card.needs == frozenset()
