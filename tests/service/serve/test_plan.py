"""Which metrics run on which unit, and from which queue is taken."""

from dataclasses import replace

import pytest

from otel_eval.metrics import builtin_metric
from otel_eval.sampling import Rules, Upstream
from otel_eval.scoring import MetricRun
from otel_eval.service.serve.plan import Plan, PlannedRun, is_left_out, select
from otel_eval.service.serve.working import next_queue
from otel_eval.store import Queue
from tests.fakes.talk import booking


def planned(name: str, rate: float = 1.0, **fields: bool) -> PlannedRun:
    return PlannedRun(run=MetricRun(metric=builtin_metric(name)), rate=rate, **fields)


def plan(*runs: PlannedRun, **rules: object) -> Plan:
    return Plan(runs=runs, rules=Rules(**rules))  # type: ignore[arg-type]  # the fields of Rules


def test_rates_nest() -> None:
    """What a lower rate keeps, every higher one keeps: a conversation's groups are those of all rates at or above some mark."""
    runs = [planned("turn_count", 1.0), planned("message_count", 0.5), planned("loops", 0.2)]
    seen = set()
    for number in range(300):
        chosen = select(plan(*runs), runs, replace(booking(), id=f"c{number}"))
        seen.add(tuple(name for group in chosen.groups for name in group.names))
    assert seen == {("turn_count",), ("turn_count", "message_count"), ("turn_count", "message_count", "loops")}


def test_each_group_carries_its_probability() -> None:
    """Results of metrics with rates of their own say with what probability each was selected."""
    runs = [planned("turn_count", 1.0), planned("message_count", 0.5)]
    kept = next(c for n in range(50) if len((c := select(plan(*runs), runs, replace(booking(), id=f"c{n}"))).groups) == 2)
    assert [(g.names, g.probability, g.selected_by) for g in kept.groups] == [
        (("turn_count",), 1.0, "estimate"),
        (("message_count",), 0.5, "estimate"),
    ]


def test_triage_runs_what_the_rates_left_out() -> None:
    """A unit that is triage runs the other metrics as triage, and those kept by their rate stay for the estimate."""
    runs = [planned("turn_count", 1.0), planned("message_count", 0.0), planned("loops", 0.0, triage=False)]
    chosen = select(plan(*runs), runs, booking(), triage_reason="tool_errors")
    assert [(g.names, g.selected_by) for g in chosen.groups] == [(("turn_count",), "estimate"), (("message_count",), "triage")]
    assert (chosen.queue, chosen.reason) == ("triage", "tool_errors")


def test_always_keep_is_triage() -> None:
    """What attributes keep is judged whatever the rate, and outside every rate."""
    runs = [planned("turn_count", 0.0)]
    chosen = select(plan(*runs, always_keep={"tier": "gold"}), runs, replace(booking(), attributes={"tier": "gold"}))
    assert [(g.probability, g.selected_by) for g in chosen.groups] == [(1.0, "triage")]
    assert chosen.reason == "always_keep"


def test_upstream_sampling_is_told() -> None:
    """What the tracestate says of sampling before us goes with the unit."""
    runs = [planned("turn_count")]
    chosen = select(plan(*runs), runs, replace(booking(), id=None), upstream=Upstream(threshold=1 << 55, randomness=(1 << 56) - 1))
    assert chosen.upstream_probability == 0.5


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_an_id_decides_as_the_conversation_does(rate: float) -> None:
    """Leaving out by the id alone agrees with the decision on the whole conversation."""
    runs = [planned("turn_count", rate)]
    made = plan(*runs, rate=rate, triage_share=0.0)
    assert made.decides_by_id
    for number in range(200):
        left_out = is_left_out(made, runs, f"c{number}")
        assert left_out == (not select(made, runs, replace(booking(), id=f"c{number}")).groups)


@pytest.mark.parametrize(
    ("estimate", "triage", "scored", "queue"),
    [
        (0, 0, {}, None),
        (5, 0, {}, "estimate"),
        (0, 5, {"triage": 99}, "triage"),
        (5, 5, {}, "triage"),
        (5, 5, {"estimate": 4, "triage": 1}, "triage"),
        (5, 5, {"estimate": 3, "triage": 1}, "estimate"),
    ],
)
def test_the_queue_to_take_from(estimate: int, triage: int, scored: dict[str, int], queue: str | None) -> None:
    """Triage is taken while it lags behind its share; where one queue is empty the other goes on: neither starves."""
    waiting: dict[Queue, int] = {"estimate": estimate, "triage": triage}
    assert next_queue({name for name, units in waiting.items() if units}, scored, 0.2) == queue


def test_both_queues_go_on_under_pressure() -> None:
    """With both queues always full, a fifth of what is scored is triage."""
    scored = {"estimate": 0, "triage": 0}
    for _ in range(1000):
        queue = next_queue({"estimate", "triage"}, scored, 0.2)
        assert queue is not None
        scored[queue] += 1
    assert scored["triage"] == pytest.approx(200, abs=2)
