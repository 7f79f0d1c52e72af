"""What was sampled before us: the probability, or that nobody knows it, stands on every result."""

import asyncio
from typing import Any

import pytest

from otel_eval.model import Span
from otel_eval.sinks.result_events import events_from_report
from tests.fakes.bench import Bench
from tests.fakes.spans import agent, chat, says, user

QUARTER, ALL = "ot=th:c", "ot=th:0"
ID = {"gen_ai.conversation.id": "talk-1"}


def turn(number: int, tracestate: str, **attributes: Any) -> list[Span]:
    """One turn in a trace of its own, which an earlier sampler wrote on; the last digits of its id are above any threshold."""
    trace = number * 2**64 + 2**56 - 1
    call = chat(1, [user("Hi")], says("Hello"), attributes, trace=trace, parent=9, start=number * 100 + 1, trace_state=tracestate)
    return [call, agent(9, "clerk", attributes, trace=trace, start=number * 100, end=number * 100 + 2, trace_state=tracestate)]


def told_by(turns: list[list[Span]], **settings: Any) -> tuple[Any, Any]:
    """What the one result says of sampling upstream: (the word, the probability)."""

    async def run() -> dict[str, Any]:
        b = Bench(**settings)
        try:
            for spans in turns:
                await b.send(*spans)
            await b.after(11)
            await b.after(101)
            (report,) = b.sink.reports
            (event,) = events_from_report(report)
            return dict(event.attributes)
        finally:
            b.close()

    found = asyncio.run(run())
    return found["otel_eval.sampling.upstream"], found.get("otel_eval.sampling.upstream_probability")


CASES = {
    "a trace with a threshold": ([turn(1, QUARTER)], ("tracestate", 0.25)),
    "a trace without": ([turn(1, "vendor=1")], ("unknown", None)),
    "a conversation of one trace": ([turn(1, QUARTER, **ID)], ("tracestate", 0.25)),
    "a conversation whose traces were kept or not one by one": ([turn(1, QUARTER, **ID), turn(2, QUARTER, **ID)], ("unknown", None)),
    "a conversation of which everything was kept": ([turn(1, ALL, **ID), turn(2, ALL, **ID)], ("tracestate", 1.0)),
    "a conversation of which only some traces say so": ([turn(1, ALL, **ID), turn(2, "", **ID)], ("unknown", None)),
}


@pytest.mark.parametrize("case", CASES)
def test_results_say_what_was_sampled_before(case: str) -> None:
    """The probability where the tracestate gives one that holds for the whole unit, else `unknown`; never a 1 that nobody wrote."""
    turns, expected = CASES[case]
    assert told_by(turns) == expected


def test_behind_a_tail_sampler_a_threshold_is_not_believed() -> None:
    """With `selection.upstream: unknown` the tracestate is not asked."""
    assert told_by([turn(1, QUARTER)], selection__upstream="unknown") == ("unknown", None)
