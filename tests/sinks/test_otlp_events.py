"""Results as OTLP log events, against a receiver on loopback: the shape, and nothing lost or doubled when it refuses."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.errors import SinkError
from otel_eval.model import Failed, FailReason, JudgeUse, Outcome, Report, Result, Score, Skipped, SkipReason
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.sinks.otlp_events import OtlpEventSink
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.talk import TRACE, booking, ref

JUDGE = JudgeUse(kind="model", model="m-1", prompt="goal_accuracy.v1", prompt_hash="abc", calls=1, input_tokens=900, output_tokens=60)
SCORE = Score(value=1.0, label="pass", explanation="The tool confirmed it.", evidence=(2, 3), details={"truncated": True}, judge=JUDGE)


def report(*outcomes: Outcome) -> Report:
    results = tuple(
        Result(id=f"id-{n}", metric="agent_goal_accuracy", metric_version="1", outcome=outcome, anchor=ref(1))
        for n, outcome in enumerate(outcomes)
    )
    return Report(
        conversation=booking(), results=results, sampling_probability=0.5, selected_by="estimate", time_ns=1_700_000_000_000_000_000
    )


def sink(receiver: OtlpReceiver, **more: Any) -> OtlpEventSink:
    endpoint = Endpoint(url=f"{receiver.url}/v1/logs", timeout_s=2.0, **more)
    return OtlpEventSink(endpoint, resource={"service.name": "otel-eval"}, version="1.2.3")


def test_a_score_as_an_event() -> None:
    """Name, ids of the judged turn's root, time, standard attributes, ours, and a body without content."""
    with OtlpReceiver() as receiver:
        asyncio.run(sink(receiver).write(report(SCORE)))
    (record,) = receiver.records
    assert receiver.paths == ["/v1/logs"]
    assert (record.event_name, record.trace_id, record.span_id) == ("gen_ai.evaluation.result", TRACE, ref(1).span_id)
    assert (record.time_ns, record.severity_number, record.scope) == (1_700_000_000_000_000_000, 9, "otel_eval")
    assert record.body == "agent_goal_accuracy 1 pass"
    assert record.resource["service.name"] == "otel-eval"
    assert record.attributes == {
        "gen_ai.evaluation.name": "agent_goal_accuracy",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "The tool confirmed it.",
        "gen_ai.response.id": "resp-1",
        "gen_ai.conversation.id": "c1",
        "gen_ai.agent.name": "box-office",
        "otel_eval.result.id": "id-0",
        "otel_eval.revision": 1,
        "otel_eval.level": "conversation",
        "otel_eval.metric.version": "1",
        "otel_eval.selected_by": "estimate",
        "otel_eval.sampling.probability": 0.5,
        "otel_eval.sampling.upstream": "unknown",
        "otel_eval.truncated": True,
        "otel_eval.evidence.span_ids": [ref(3).span_id, ref(4).span_id],
        "otel_eval.judge.kind": "model",
        "otel_eval.judge.model": "m-1",
        "otel_eval.prompt.name": "goal_accuracy.v1",
        "otel_eval.prompt.hash": "abc",
        "otel_eval.judge.input_tokens": 900,
        "otel_eval.judge.output_tokens": 60,
    }
    assert record.kinds["gen_ai.evaluation.score.value"] == "double_value"


def test_a_failure_has_error_type_and_no_score() -> None:
    """A metric that failed is an event with `error.type`; there is no value that could be averaged."""
    with OtlpReceiver() as receiver:
        asyncio.run(sink(receiver).write(report(Failed(error_type=FailReason.JUDGE_TIMEOUT, detail="late"))))
    (record,) = receiver.records
    assert record.attributes["error.type"] == "judge_timeout"
    assert "gen_ai.evaluation.score.value" not in record.attributes
    assert record.body == "agent_goal_accuracy failed: judge_timeout"


def test_a_skipped_metric_is_no_event() -> None:
    """Where nothing was evaluated nothing is sent: not even a request."""
    with OtlpReceiver() as receiver:
        asyncio.run(sink(receiver).write(report(Skipped(reason=SkipReason.UNDEFINED))))
    assert receiver.requests == 0


def test_refused_for_now_is_sent_again() -> None:
    """Two 503 and then a 200: the result arrives once, with the same id."""
    with OtlpReceiver(answer=lambda number: 503 if number < 3 else 200, headers={"Retry-After": "0"}) as receiver:
        asyncio.run(sink(receiver).write(report(SCORE)))
    assert [r.attributes["otel_eval.result.id"] for r in receiver.records] == ["id-0"]
    assert receiver.requests == 3


@pytest.mark.parametrize(("status", "retryable"), [(400, False), (401, False), (503, True)])
def test_refused_to_the_end_is_an_error_that_says_so(status: int, retryable: bool) -> None:
    """What was not taken is a SinkError; it says whether trying again later can help."""
    with OtlpReceiver(answer=lambda _: status, headers={"Retry-After": "60"}) as receiver, pytest.raises(SinkError) as caught:
        asyncio.run(sink(receiver).write(report(SCORE)))
    assert caught.value.retryable is retryable
    assert not receiver.records


def test_a_partial_success_is_counted_and_not_sent_again() -> None:
    """The receiver kept one of two for good: said in the count, never sent a second time."""
    with OtlpReceiver(rejects=1) as receiver:
        target = sink(receiver)
        asyncio.run(target.write(report(SCORE, SCORE)))
    assert (target.sent, target.rejected, target.message, receiver.requests) == (1, 1, "too old", 1)


def test_nothing_is_lost_when_it_fails_at_random() -> None:
    """Refusals and broken connections at random: every result arrives at least once, and a second copy has the same id."""
    dice = random.Random(7)
    with OtlpReceiver(answer=lambda _: dice.choice([200, 503, 0]), headers={"Retry-After": "0"}) as receiver:
        target = OtlpEventSink(Endpoint(url=f"{receiver.url}/v1/logs", timeout_s=30.0), resource={})
        for number in range(10):
            one = report(SCORE)
            asyncio.run(target.write(replace(one, results=(replace(one.results[0], id=f"id-{number}"),))))
    assert {r.attributes["otel_eval.result.id"] for r in receiver.records} == {f"id-{n}" for n in range(10)}
