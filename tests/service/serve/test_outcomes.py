"""What becomes of traces and conversations, with time that passes when told."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from otel_eval.errors import JudgeError
from otel_eval.model import Failed, Score
from otel_eval.testing import ScriptedJudge
from tests.fakes.bench import Bench
from tests.fakes.spans import agent, chat, says, span, trace_id, user

ID = {"gen_ai.conversation.id": "talk-1"}


def run(told: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(told())  # type: ignore[arg-type]  # every one of them is a coroutine


def turn(number: int, text: str, answer: str, **attributes: Any) -> list[Any]:
    """One turn in a trace of its own."""
    return [
        chat(1, [user(text)], says(answer), attributes, trace=number, parent=9, start=number * 100 + 1),
        agent(9, "clerk", attributes, trace=number, start=number * 100, end=number * 100 + 2),
    ]


def test_a_trace_is_scored_when_it_is_quiet(bench: Callable[..., Bench]) -> None:
    """A trace without an id is a conversation of its own: nothing before the quiet time, one outcome after it."""

    async def told() -> None:
        b = bench()
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(9)
        assert b.outcome_name("trace", trace_id(1)) == "pending"
        await b.after(2)
        assert b.outcome_name("trace", trace_id(1)) == "scored"
        assert [r.results[0].outcome.value for r in b.sink.reports if isinstance(r.results[0].outcome, Score)] == [1.0]

    run(told)


def test_a_conversation_is_scored_once_it_is_over(bench: Callable[..., Bench]) -> None:
    """Turns of an id wait for the silence behind the last one; then the whole is scored, and its traces have the same outcome."""

    async def told() -> None:
        b = bench()
        await b.send(*turn(1, "Hi", "Hello", **ID))
        await b.after(50)
        await b.send(*turn(2, "Bye", "Goodbye", **ID))
        await b.after(60)
        assert b.outcome_name("conversation", "talk-1") == "pending"
        await b.after(60)
        assert b.outcome_name("conversation", "talk-1") == "scored"
        assert b.facts("conversation", "talk-1")["turns"] == 2
        assert [b.outcome_name("trace", trace_id(n)) for n in (1, 2)] == ["scored", "scored"]
        assert len(b.sink.reports) == 1

    run(told)


def test_an_end_mark_closes_at_once(bench: Callable[..., Bench]) -> None:
    """An application that says that the conversation is over need not wait for silence."""

    async def told() -> None:
        b = bench()
        await b.send(*turn(1, "Hi", "Hello", **ID, **{"otel_eval.conversation.end": True}))
        await b.after(11)
        assert b.outcome_name("conversation", "talk-1") == "scored"

    run(told)


def test_late_spans_bring_a_revision(bench: Callable[..., Bench]) -> None:
    """What comes after the score opens the unit again: with new content revision 2 with other ids, with the same content nothing."""

    async def told() -> None:
        b = bench()
        first, root = turn(1, "Hi", "Hello")
        await b.send(first, root)
        await b.after(11)
        await b.send(first)
        await b.after(11)
        assert len(b.sink.reports) == 1
        await b.send(chat(3, [user("Hi"), says("Hello"), user("More?")], says("No."), trace=1, parent=9, start=101.5))
        await b.after(11)
        outcome = b.outcome("trace", trace_id(1))
        assert outcome is not None
        assert (outcome.outcome, outcome.revision) == ("scored", 2)
        one, two = b.sink.reports
        assert (two.results[0].revision, one.results[0].id != two.results[0].id) == (2, True)

    run(told)


def test_there_are_enough_revisions_once(bench: Callable[..., Bench]) -> None:
    """Beyond `max_revisions` late content changes nothing, and nothing stays due."""

    async def told() -> None:
        b = bench(completion__max_revisions=1)
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        await b.send(chat(3, [user("More?")], says("No."), trace=1, parent=9, start=101.5))
        await b.after(11)
        assert len(b.sink.reports) == 1
        assert b.store.progress.next_due_s() is None

    run(told)


def test_a_conversation_that_goes_on_much_later(bench: Callable[..., Bench]) -> None:
    """Once the earlier requests are gone the new turns are scored, and the results say how many traces are missing."""

    async def told() -> None:
        b = bench(completion__late_window="30s")
        await b.send(*turn(1, "Hi", "Hello", **ID))
        await b.after(11)
        await b.after(101)
        await b.after(31)
        b.store.settled().result()
        b.store.settled().result()
        await b.send(*turn(2, "Me again", "Hello again", **ID))
        await b.after(11)
        await b.after(101)
        first, second = b.sink.reports
        assert (first.missing_traces, second.missing_traces) == (0, 1)
        outcome = b.outcome("conversation", "talk-1")
        assert outcome is not None
        assert outcome.revision == 2
        assert "1 earlier traces were no longer kept" in outcome.detail

    run(told)


def test_turns_after_enough_revisions_have_an_outcome(bench: Callable[..., Bench]) -> None:
    """A conversation that goes on after its last revision is not scored again, and its new traces say why."""

    async def told() -> None:
        b = bench(completion__max_revisions=1)
        await b.send(*turn(1, "Hi", "Hello", **ID))
        await b.after(11)
        await b.after(101)
        await b.send(*turn(2, "Me again", "Hello again", **ID))
        await b.after(11)
        await b.after(101)
        found = b.outcome("trace", trace_id(2))
        assert found is not None
        assert (found.outcome, found.reason) == ("filtered", "max_revisions")
        assert b.store.progress.next_due_s() is None

    run(told)


def test_late_spans_after_the_requests_are_gone(bench: Callable[..., Bench]) -> None:
    """Once the late window is over the requests are deleted: late spans would be scored as a part, so they are counted instead."""

    async def told() -> None:
        b = bench(completion__late_window="30s")
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        await b.after(40)
        b.store.settled().result()
        b.store.settled().result()
        assert b.record("trace", trace_id(1)).bodies == 0
        await b.send(chat(3, [user("More?")], says("No."), trace=1, parent=9, start=101.5))
        await b.after(11)
        assert len(b.sink.reports) == 1
        assert b.parts.looker.weigher.counts.late_after_release == 1

    run(told)


def test_a_fragment_is_not_scored(bench: Callable[..., Bench]) -> None:
    """A trace whose root never comes is a fragment after its greatest age; when the root comes after all, it is scored."""

    async def told() -> None:
        b = bench()
        call, root = turn(1, "Hi", "Hello")
        await b.send(call)
        await b.after(50)
        assert b.outcome_name("trace", trace_id(1)) == "pending"
        await b.after(11)
        assert b.outcome_name("trace", trace_id(1)) == "fragment"
        await b.send(root)
        await b.after(11)
        assert b.outcome_name("trace", trace_id(1)) == "scored"

    run(told)


def test_fragments_are_scored_where_that_is_wanted(bench: Callable[..., Bench]) -> None:
    """`completion.fragments: score` takes a trace without a root as it is."""

    async def told() -> None:
        b = bench(completion__fragments="score")
        await b.send(turn(1, "Hi", "Hello")[0])
        await b.after(61)
        assert b.outcome_name("trace", trace_id(1)) == "scored"

    run(told)


@pytest.mark.parametrize(
    ("spans", "outcome", "reason"),
    [
        ([span(1, {"http.method": "GET"}, name="GET /")], "no_genai_content", ""),
        ([chat(1)], "content_not_captured", "content_not_captured"),
        ([span(1, {"gen_ai.something.new": "x"}, name="y")], "not_understood", "no_conversation"),
        ([span(1, {"gen_ai.operation.name": "evaluation", "gen_ai.evaluation.name": "x"})], "evaluator_own", ""),
    ],
)
def test_what_cannot_be_scored_says_why(bench: Callable[..., Bench], spans: list[Any], outcome: str, reason: str) -> None:
    """Each kind of trace that has no conversation to score has an outcome of its own with a sentence."""

    async def told() -> None:
        b = bench()
        await b.send(*spans)
        await b.after(11)
        found = b.outcome("trace", trace_id(1))
        assert found is not None
        assert (found.outcome, found.reason) == (outcome, reason)
        assert found.detail.endswith((".", ")"))
        assert b.sink.reports == []

    run(told)


def test_what_the_rate_leaves_out_is_not_read(bench: Callable[..., Bench]) -> None:
    """Where an id alone decides, a conversation that the rate leaves out is never read, and its requests go at once."""

    async def told() -> None:
        b = bench(selection__rate=0.0, selection__triage_share=0.0)
        await b.send(*turn(1, "Hi", "Hello", **ID))
        await b.after(11)
        await b.after(101)
        assert b.outcome_name("trace", trace_id(1)) == "sampled_out"
        assert b.outcome_name("conversation", "talk-1") == "sampled_out"
        assert b.parts.looker.weigher.counts.reads == 0
        b.store.settled().result()
        b.store.settled().result()
        assert b.record("trace", trace_id(1)).bodies == 0

    run(told)


def test_filters_come_before_the_rate(bench: Callable[..., Bench]) -> None:
    """A conversation of another agent is filtered, whatever the rate, and the reason names the filter."""

    async def told() -> None:
        b = bench(selection__agents=["other"], selection__rate=0.0)
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        found = b.outcome("trace", trace_id(1))
        assert found is not None
        assert (found.outcome, found.reason) == ("filtered", "agent")

    run(told)


def test_metrics_have_rates_of_their_own(bench: Callable[..., Bench]) -> None:
    """A signal that costs nothing runs on all conversations while the rate leaves others out; each result carries its own probability."""

    async def told() -> None:
        metrics = ["message_count", {"name": "turn_count", "rate": 1.0}]
        b = bench(selection__rate=0.0, selection__triage_share=0.0, metrics=metrics)
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        (report,) = b.sink.reports
        assert [r.metric for r in report.results] == ["turn_count"]
        assert (report.sampling_probability, report.selected_by) == (1.0, "estimate")

    run(told)


def test_triage_takes_what_looks_like_a_failure(bench: Callable[..., Bench]) -> None:
    """Of what the rate leaves out, conversations with flags are judged within their share, marked, and say why."""

    async def told() -> None:
        b = bench(selection__rate=0.5, selection__triage_share=0.5)
        for number in range(1, 41):
            own = {"gen_ai.conversation.id": f"talk-{number}"}
            again = chat(5, [user("Hi"), says("Hello"), user("And?")], None, own, trace=number, parent=9, start=number * 100 + 1.5)
            await b.send(*turn(number, "Hi", "Hello", **own), again)
        await b.after(11)
        await b.after(101)
        by = {name: [r for r in b.sink.reports if r.selected_by == name] for name in ("estimate", "triage")}
        assert by["triage"], "nothing was taken"
        assert len(by["triage"]) <= len(by["estimate"]) + 1
        assert {r.sampling_probability for r in by["estimate"]} == {0.5}
        key = by["triage"][0].conversation.key
        assert b.facts("conversation", key)["selected_for"] == "unanswered_end"

    run(told)


def test_turns_are_scored_as_they_complete(bench: Callable[..., Bench]) -> None:
    """A metric that runs at the trace sees the conversation so far and scores the turn; its ids are not those of the whole."""

    async def told() -> None:
        b = bench(metrics=[{"name": "turn_count", "at": "trace"}, "message_count"])
        await b.send(*turn(1, "Hi", "Hello", **ID))
        await b.after(11)
        await b.send(*turn(2, "Bye", "Goodbye", **ID))
        await b.after(11)
        assert [r.results[0].metric for r in b.sink.reports] == ["turn_count", "turn_count"]
        assert [r.results[0].outcome.value for r in b.sink.reports if isinstance(r.results[0].outcome, Score)] == [1.0, 2.0]
        await b.after(101)
        assert [r.results[0].metric for r in b.sink.reports] == ["turn_count", "turn_count", "message_count"]
        assert len({r.results[0].id for r in b.sink.reports}) == 3
        assert b.outcome_name("conversation", "talk-1") == "scored"

    run(told)


def test_a_judge_that_is_down_is_waited_for(bench: Callable[..., Bench]) -> None:
    """While the judge cannot be asked the unit waits in its queue, and is scored when it answers again."""

    async def told() -> None:
        down = JudgeError("judge_unavailable", "nobody answers")
        judge = ScriptedJudge(answers={"yes_no": [down, down, {"verdict": "yes"}]})
        b = bench(judge=judge, metrics=[{"name": "check.done", "parameters": {"question": "Is it done?"}}])
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        assert b.outcome_name("trace", trace_id(1)) == "scored"
        assert b.parts.worker.counts.given_back == 2
        assert len(b.sink.reports) == 1

    run(told)


def test_what_the_store_refuses_is_an_outcome(bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit whose own content the store will not take is tried some times and then over; the ones beside it are scored at once."""

    async def told() -> None:
        b = bench()
        monkeypatch.setattr(b.sink, "payload", lambda report: object() if trace_id(1) in report.conversation.trace_ids else b"x")
        await b.send(*turn(1, "Hi", "Hello"))
        await b.send(*turn(2, "Hi there", "Hello"))
        await b.after(11)
        refused = b.outcome("trace", trace_id(1))
        assert refused is not None
        assert (refused.outcome, refused.reason) == ("not_understood", "scorer_error")
        assert "NotStorable" in refused.detail
        assert b.outcome_name("trace", trace_id(2)) == "scored"
        assert b.parts.worker.held_until == 0.0

    run(told)


def test_patience_with_a_judge_ends(bench: Callable[..., Bench]) -> None:
    """When the patience is over, that the judge could not be asked is the result, with its reason."""

    async def told() -> None:
        judge = ScriptedJudge(answers={"yes_no": JudgeError("judge_unavailable", "nobody answers")})
        b = bench(judge=judge, scoring__patience="0s", metrics=[{"name": "check.done", "parameters": {"question": "Is it done?"}}])
        await b.send(*turn(1, "Hi", "Hello"))
        await b.after(11)
        (report,) = b.sink.reports
        assert isinstance(report.results[0].outcome, Failed)
        assert report.results[0].outcome.error_type.value == "judge_unavailable"

    run(told)


def test_answers_that_are_gone_on_from_make_a_conversation(bench: Callable[..., Bench]) -> None:
    """Traces without ids that name the stored answer they go on from are one conversation, which is scored as a whole as well."""

    async def told() -> None:
        b = bench()
        await b.send(*turn(1, "Hi", "Hello", **{"gen_ai.response.id": "resp_1"}))
        await b.after(11)
        await b.send(*turn(2, "Bye", "Goodbye", **{"gen_ai.response.id": "resp_2", "gen_ai.conversation.id": "resp_1"}))
        await b.after(11)
        await b.after(101)
        assert b.outcome_name("conversation", trace_id(1)) == "scored"
        assert b.facts("conversation", trace_id(1))["turns"] == 2
        assert len({r.results[0].id for r in b.sink.reports}) == 2

    run(told)
