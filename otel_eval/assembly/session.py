"""Many traces to conversations: traces of one id together in order, agents in their own scope, sub-agents apart."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from otel_eval.assembly.build import Piece, conversation_from_pieces
from otel_eval.assembly.scopes import Line, lines_from_trace
from otel_eval.assembly.thread import Thread
from otel_eval.assembly.tree import Trace, collapse_duplicates, trace_from_steps
from otel_eval.assembly.twins import without_twins
from otel_eval.model import Conversation, JoinedBy, Step


@dataclass(slots=True, kw_only=True)
class AssemblyReport:
    """What assembly saw and left out."""

    traces: int = 0
    traces_without_genai: int = 0
    duplicate_calls: int = 0
    duplicate_traces: int = 0
    evaluator_spans: int = 0


@dataclass(slots=True, eq=False)
class _Group:
    """The lines of one conversation."""

    id: str | None
    joined_by: JoinedBy
    pieces: list[Piece] = field(default_factory=list)
    thread: Thread = field(default_factory=Thread)


def conversations_from_steps(
    steps: Iterable[Step], id_keys: Sequence[str] = (), *, join_by_history: bool = False, report: AssemblyReport | None = None
) -> list[Conversation]:
    """All conversations of these steps, by start. `id_keys` are the attributes that carry a conversation id, best first.

    A trace without an id is a conversation of its own; with `join_by_history` it is joined to the one whose messages its first model call
    repeats
    as a whole.
    """
    report = report if report is not None else AssemblyReport()
    traces = _traces(steps, id_keys, report)
    kept = without_twins(traces)
    report.duplicate_traces += len(traces) - len(kept)
    groups: dict[str, _Group] = {}
    answered: dict[str, str] = {}
    lines_of = {trace.id: lines_from_trace(trace) for trace in kept}
    _settle_main_lines(list(lines_of.values()))
    lost = {t.id: t for t in kept if _is_lost_run(lines_of[t.id])}
    for trace in kept:
        lines = lines_of[trace.id]
        if not lines:
            report.traces_without_genai += 1
        if not lines or trace.id in lost:
            continue
        for key, line in _keyed(trace, lines):
            chained = _answered_by(line, answered) if key.startswith("trace:") else None
            key = chained or key
            answered.update((s.response_id, key) for s in line.calls if s.response_id)
            if key.startswith("trace:") and chained is None and join_by_history and line.sub_agent_of is None:
                key = _continued(groups, line) or key
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(line.conversation_id, "conversation_id" if line.conversation_id else "trace")
            elif group.id is None and key.startswith("trace:"):
                group.joined_by = "response_id" if chained else "history"
            group.pieces.append(Piece(trace=trace, line=line))
            if join_by_history and group.id is None:
                for step in line.calls:
                    group.thread.feed(step)
    asked = _asked(groups) if lost else {}
    for trace in lost.values():
        (line,) = lines_of[trace.id]
        key = _asking(asked, line) or f"trace:{trace.id}"
        groups.setdefault(key, _Group(None, "trace")).pieces.append(Piece(trace=trace, line=line))
    made = [conversation_from_pieces(g.id, g.pieces, g.joined_by) for g in groups.values()]
    return sorted((c for c in made if c is not None), key=lambda c: (c.start_ns, c.sub_agent_of is not None, c.key))


def _traces(steps: Iterable[Step], id_keys: Sequence[str], report: AssemblyReport) -> list[Trace]:
    by_trace: dict[str, list[Step]] = defaultdict(list)
    listed_steps = list(steps)
    answers = {s.response_id for s in listed_steps if s.response_id and s.conversation_ids}
    for step in listed_steps:
        by_trace[step.ref.trace_id].append(_without_chain_ids(step, answers))
    traces = []
    for trace_id, listed in by_trace.items():
        trace = trace_from_steps(trace_id, listed, id_keys)
        report.traces += 1
        report.duplicate_calls += collapse_duplicates(trace)
        report.evaluator_spans += sum(1 for n in trace.nodes if n.is_evaluation)
        traces.append(trace)
    return sorted(traces, key=lambda t: (t.start_ns, t.id))


def _without_chain_ids(step: Step, answers: set[str]) -> Step:
    """A conversation id that is the id of an earlier answer is no conversation's (agent-framework): it says which answer this goes on
    from."""
    chained = next((v for _, v in step.conversation_ids if v in answers or v.startswith("resp_")), None)
    if chained is None:
        return step
    kept = tuple((k, v) for k, v in step.conversation_ids if v not in answers and not v.startswith("resp_"))
    return replace(step, conversation_ids=kept, previous_response_id=step.previous_response_id or chained)


def _answered_by(line: Line, answered: dict[str, str]) -> str | None:
    """The conversation in which the answer that this line goes on from was given."""
    return next((answered[p] for s in (*line.calls, *line.frames) if (p := s.previous_response_id) and p in answered), None)


def _settle_main_lines(traces: list[list[Line]]) -> None:
    """Where a trace alone does not tell the user's line from a guardrail's or a title's, the conversation does: it is the one under the
    system prompt
    that did most of the talking in it."""
    weight: dict[str, Counter[str]] = defaultdict(Counter)
    for lines in traces:
        for line in lines:
            if line.conversation_id is not None and not line.is_called and line.system:
                weight[line.conversation_id][line.system] += len(line.calls) + len(line.tools)
    for lines in traces:
        main = next((x for x in lines if x.sub_agent_of is None and x.conversation_id is not None), None)
        if main is None or len(lines) < 2 or len(main.calls) > 1 or main.tools or not main.system:
            continue
        said = weight[main.conversation_id or ""]
        beside = [x for x in lines if x.conversation_id == main.conversation_id and not x.is_called and x.system and x is not main]
        best = max(beside, key=lambda x: said[x.system or ""], default=main)
        if said[best.system or ""] > said[main.system]:
            main.sub_agent_of, best.sub_agent_of = best.sub_agent_of, None
            best.frames, best.root = [*main.frames, *best.frames], main.root
            lines.sort(key=lambda x: x.sub_agent_of is not None)


def _keyed(trace: Trace, lines: list[Line]) -> list[tuple[str, Line]]:
    """Which conversation each line belongs to: its id, else its trace; a sub-agent's without an id of its own stands alone."""
    out: list[tuple[str, Line]] = []
    for place, line in enumerate(lines):
        if line.sub_agent_of is not None:
            out.append((f"sub:{line.sub_agent_of}:{line.conversation_id or trace.id}:{line.agent or place}:{line.scope or place}", line))
        elif line.conversation_id is not None:
            out.append((f"id:{line.conversation_id}", line))
        else:
            out.append((f"trace:{trace.id}", line))
    return out


def _is_lost_run(lines: list[Line]) -> bool:
    """A trace of tool runs alone that know their calls but no conversation: a thread pool lost its context."""
    if len(lines) != 1:
        return False
    line = lines[0]
    runs_alone = bool(line.tools) and not line.calls and all(t.tool_call_id for t in line.tools)
    return runs_alone and line.conversation_id is None and line.sub_agent_of is None and not line.agents


def _asked(groups: dict[str, _Group]) -> dict[str, list[tuple[int, str]]]:
    """For each call id, when it was asked for and in which conversation."""
    asked: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for key, group in groups.items():
        for step in (s for p in group.pieces for s in p.line.calls):
            for call in (c for m in step.content.output or () for c in m.tool_calls if c.id):
                asked[call.id or ""].append((step.start_ns, key))
    return asked


def _asking(asked: dict[str, list[tuple[int, str]]], line: Line) -> str | None:
    """The one conversation in which these calls were asked for before they ran; None where there is none, or more than one."""
    found = {key for t in line.tools for start, key in asked.get(t.tool_call_id or "", ()) if start <= t.start_ns}
    return found.pop() if len(found) == 1 else None


def _continued(groups: dict[str, _Group], line: Line) -> str | None:
    """The longest conversation without id that this line's first input repeats as a whole."""
    given = next((c.content.input for c in line.calls if c.content.input), None)
    if given is None:
        return None
    fitting = [
        (len(g.thread.entries), k) for k, g in groups.items() if g.id is None and k.startswith("trace:") and g.thread.continues(given)
    ]
    return max(fitting)[1] if fitting else None
