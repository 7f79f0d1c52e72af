"""Replicas behind a load balancer that come and go: what may have been cut in two is a fragment, never a score of half a trace."""

import asyncio
from typing import Any

import pytest

from otel_eval.model import Span
from otel_eval.service.serve.reading import Family
from otel_eval.service.serve.replicas import Replicas
from tests.captures import capture, names
from tests.fakes.bench import Bench
from tests.fakes.spans import BASE, SECOND, agent, chat, says, span, trace_id, user

ID = {"gen_ai.conversation.id": "talk-1"}
START_S = BASE / SECOND
NO_HOST = "x" * 64
"""Longer than a label may be: nobody is asked for it."""


def turn(number: int, **attributes: Any) -> list[Span]:
    """An agent's run with a step inside, and a model call inside that, some seconds of one trace from second 100 · number on."""
    at = number * 100
    call = chat(1, [user("Hi")], says("Hello"), attributes, trace=number, parent=5, start=at + 1)
    step = agent(5, "step", attributes, trace=number, parent=9, start=at, end=at + 2)
    return [call, step, agent(9, "clerk", attributes, trace=number, start=at, end=at + 3)]


def outcomes(*requests: list[Span], changed_at: float | None = None, **settings: Any) -> dict[str, tuple[str, str]]:
    """Outcome and reason by unit, after all these requests; with a change of replicas at that second."""

    async def run() -> dict[str, tuple[str, str]]:
        b = Bench(**settings)
        if changed_at is not None:
            b.parts.looker.replicas = Replicas(name="replicas", now_s=lambda: START_S + changed_at)
        try:
            for spans in requests:
                await b.send(*spans)
            await b.after(61)
            await b.after(101)
            units = [("trace", trace_id(1)), ("trace", trace_id(2)), ("conversation", "talk-1")]
            found = {key: b.outcome(kind, key) for kind, key in units}
            return {key: (o.outcome, o.reason) for key, o in found.items() if o is not None}
        finally:
            b.close()

    return asyncio.run(run())


def test_a_trace_without_a_parent_of_its_spans_is_a_fragment() -> None:
    """The root came and a call inside a step that did not: that is a part of a trace, and `completion.fragments: score` scores parts."""
    call, _, root = turn(1)
    assert outcomes([call, root]) == {trace_id(1): ("fragment", "no_parent")}
    assert outcomes([call, root], completion__fragments="score") == {trace_id(1): ("scored", "")}


def test_a_marked_end_stands_for_the_spans_around_it() -> None:
    """Who says that the conversation is over is believed, though the step and the root that the call is inside of are still open."""
    call = turn(1, **{"otel_eval.conversation.end": True})[0]
    assert outcomes([call]) == {trace_id(1): ("scored", "")}


def test_no_captured_instrumentation_leaves_out_parents() -> None:
    """What makes a fragment does not happen by itself: in every captured trace all parents are there."""
    family = Family()
    for name in names():
        assert len(list(family.of(capture(name).batches()))) == len(capture(name).requests)
    assert len(family.named) > 1000
    assert not family.named - family.known


def test_a_parent_that_was_not_kept_is_not_missing() -> None:
    """What comes without anything of GenAI is let go once its trace is over; a call that comes later is scored all the same."""

    async def run() -> list[str]:
        b = Bench()
        call, _, _ = turn(1)
        await b.send(span(5, {"http.method": "GET"}, parent=9, start=100, end=103), span(9, {"http.method": "GET"}, start=100, end=103))
        await b.after(11)
        seen = [b.outcome_name("trace", trace_id(1))]
        await b.after(60)
        await b.send(*turn(2))  # the store tidies up beside its writes
        await b.after(11)
        kept = b.store.progress.trace(trace_id(1))
        assert kept is not None
        assert kept.released
        await b.send(call)
        await b.after(11)
        seen.append(b.outcome_name("trace", trace_id(1)))
        b.close()
        return seen

    assert asyncio.run(run()) == ["no_genai_content", "scored"]


def test_a_parent_that_comes_late_mends_it() -> None:
    """Once the missing parent is there, the trace is scored."""

    async def run() -> list[str]:
        b = Bench()
        call, step, root = turn(1)
        await b.send(call, root)
        await b.after(11)
        seen = [b.outcome_name("trace", trace_id(1))]
        await b.send(step)
        await b.after(11)
        seen.append(b.outcome_name("trace", trace_id(1)))
        b.close()
        return seen

    assert asyncio.run(run()) == ["fragment", "scored"]


def test_a_conversation_with_a_part_of_a_trace_is_a_fragment() -> None:
    """A conversation is not scored on half of one of its turns."""
    call, _, root = turn(2, **ID)
    assert outcomes(turn(1, **ID), [call, root])["talk-1"] == ("fragment", "no_parent")
    assert outcomes(turn(1, **ID), turn(2, **ID))["talk-1"] == ("scored", "")


@pytest.mark.parametrize(
    ("changed_at", "expected"),
    [
        (50.0, ("scored", "")),
        (95.0, ("fragment", "replicas_changed")),
        (101.0, ("fragment", "replicas_changed")),
        (130.0, ("fragment", "replicas_changed")),
        (200.0, ("scored", "")),
    ],
)
def test_what_was_under_way_when_replicas_changed_is_a_fragment(changed_at: float, expected: tuple[str, str]) -> None:
    """A trace of seconds 100 to 103 that looks whole may be half of one: it is scored where replicas changed long before or long after
    it."""
    assert outcomes(turn(1), changed_at=changed_at) == {trace_id(1): expected}


def test_a_conversation_with_a_trace_that_was_under_way_is_a_fragment() -> None:
    """One turn may be half of one: the conversation has no score. Where fragments are scored, it has."""
    assert outcomes(turn(1, **ID), turn(2, **ID), changed_at=201.0)["talk-1"] == ("fragment", "replicas_changed")
    kept = outcomes(turn(1, **ID), turn(2, **ID), changed_at=201.0, completion__fragments="score")
    assert kept["talk-1"] == ("scored", "")


def test_what_a_name_stands_for_is_watched() -> None:
    """The first look is no change; another set of addresses is, and the same set again is not."""
    now = [1000.0]
    replicas = Replicas(name="replicas", now_s=lambda: now[0])
    for at_s, addresses in ((1001, ["::1", "::2"]), (1002, ["::2", "::1"]), (1003, ["::1"]), (1004, ["::1"]), (1005, ["::1", "::2"])):
        now[0] = at_s
        replicas.see(addresses)
    assert replicas.changes == [1000.0, 1003, 1005]


def test_a_name_that_cannot_be_resolved_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The watch says so and goes on; it ends when told."""

    async def run() -> list[float]:
        stopping = asyncio.Event()
        replicas = Replicas(name=f"{NO_HOST}:4317", now_s=lambda: 1.0)
        watching = asyncio.create_task(replicas.watch(stopping))
        while not caplog.records:
            await asyncio.sleep(0.01)
        stopping.set()
        await watching
        return replicas.changes

    assert asyncio.run(run()) == [1.0]
    assert f"{NO_HOST!r} cannot be resolved" in caplog.text
