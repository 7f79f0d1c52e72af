"""Traces that only repeat model calls of other traces: a second instrumentation without context makes a trace of each call.

They must not become conversations or be scored twice. A trace is such a twin when it has no conversation id, holds nothing but model
calls, and each of them stands in another trace: by its response id, else by its answer and last input inside the same moments. So is a
trace that holds only the span around a model call of another trace: without a context manager, JavaScript makes every span a trace (seen
with Vercel's AI SDK). **Source**: semconv trap T11.
"""

from collections import defaultdict

from otel_eval.assembly.alike import squeezed
from otel_eval.assembly.tree import Trace, same_last_input
from otel_eval.model import Step, StepKind

_SLACK_NS = 50_000_000  # clocks of two instrumentations in one process differ by far less
_FEW = 3  # calls and wrappers in such a trace


def without_twins(traces: list[Trace]) -> list[Trace]:
    """The traces less those that only repeat calls of others."""
    traces = _without_told_runs(traces)
    suspects = [t for t in traces if _may_be_twin(t)]
    if not suspects or len(traces) < 2:
        return traces
    dropped: set[str] = set()
    by_id: dict[str, list[Trace]] = defaultdict(list)
    by_gist: dict[str, list[tuple[Trace, Step]]] = defaultdict(list)
    several = len({s.dialects for t in traces for s in _calls(t)}) > 1
    for trace in traces:
        for step in _calls(trace):
            if step.response_id:
                by_id[step.response_id].append(trace)
            if several and step.content.output:
                by_gist[_gist(step)].append((trace, step))
    for trace in suspects:
        if all(_stands_elsewhere(trace, step, by_id, by_gist, dropped) for step in _calls(trace)):
            dropped.add(trace.id)
    return [t for t in traces if t.id not in dropped]


def _without_told_runs(traces: list[Trace]) -> list[Trace]:
    """The traces less those of lone runs whose question and answer are those of a call in another trace, made while they ran."""
    runs = [(t, run) for t in traces if (run := _lone_run(t)) is not None]
    if not runs or len(runs) == len(traces):
        return traces
    calls: dict[str, list[tuple[Trace, Step]]] = defaultdict(list)
    for trace in traces:
        for step in _calls(trace):
            if step.content.output:
                calls[_gist(step)].append((trace, step))
    told = {
        trace.id
        for trace, run in runs
        if any(
            other.conversation_id == trace.conversation_id and _is_inside(run, step) and same_last_input(run, step)
            for other, step in calls.get(_gist(run), ())
        )
    }
    return [t for t in traces if t.id not in told]


def _lone_run(trace: Trace) -> Step | None:
    """The agent's span of a trace that holds nothing else of note; None where there is more, or the span says nothing."""
    if len(trace.nodes) > _FEW or any(n.step.kind not in (StepKind.AGENT, StepKind.WRAPPER, StepKind.OTHER) for n in trace.nodes):
        return None
    runs = [n.step for n in trace.nodes if n.step.kind is StepKind.AGENT]
    return runs[0] if len(runs) == 1 and runs[0].content.output else None


def _is_inside(run: Step, step: Step) -> bool:
    return run.start_ns - _SLACK_NS <= step.start_ns and step.end_ns <= run.end_ns + _SLACK_NS


def _may_be_twin(trace: Trace) -> bool:
    return (
        trace.conversation_id is None
        and len(trace.nodes) <= _FEW
        and any(True for _ in _calls(trace))
        and all(n.step.kind in (StepKind.INFERENCE, StepKind.WRAPPER, StepKind.OTHER) for n in trace.nodes)
    )


def _calls(trace: Trace) -> list[Step]:
    return [n.step for n in trace.nodes if n.step.kind is StepKind.INFERENCE]


def _stands_elsewhere(
    trace: Trace, step: Step, by_id: dict[str, list[Trace]], by_gist: dict[str, list[tuple[Trace, Step]]], dropped: set[str]
) -> bool:
    if step.response_id:
        return any(o is not trace and o.id not in dropped and _is_better(o, trace) for o in by_id[step.response_id])
    if not step.content.output:
        return False
    alike = by_gist.get(_gist(step), ())
    return any(o is not trace and o.id not in dropped and _same_call(other, step) and _is_better(o, trace) for o, other in alike)


def _is_better(other: Trace, trace: Trace) -> bool:
    """Whether the other trace knows more: an id, or more spans; the earlier one on a tie."""
    mine = (trace.conversation_id is not None, len(trace.nodes), -trace.start_ns)
    theirs = (other.conversation_id is not None, len(other.nodes), -other.start_ns)
    return theirs > mine


def _same_call(a: Step, b: Step) -> bool:
    if a.dialects == b.dialects:
        return False
    return _is_inside(a, b) and same_last_input(a, b)


def _gist(step: Step) -> str:
    out = step.content.output or ()
    return squeezed(" ".join(m.text or "" for m in out)) + "|" + ",".join(c.name or "" for m in out for c in m.tool_calls)
