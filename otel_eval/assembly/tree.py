"""The steps of one trace as a tree: order, scopes, ids; duplicated recordings of one model call or tool run made one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from otel_eval.assembly.alike import same_answer
from otel_eval.model import Gap, GapReason, Message, Step, StepContent, StepKind

_PLAIN = frozenset({StepKind.WRAPPER, StepKind.OTHER})
_DAMAGED = frozenset({GapReason.TRUNCATED, GapReason.ATTRIBUTES_DROPPED, GapReason.REDACTED})


@dataclass(slots=True, eq=False)
class Node:
    """A step in its trace."""

    step: Step
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    depth: int = 0
    conversation_id: str | None = None
    """Own or inherited id; None where the trace has none."""
    tool: "Node | None" = None
    """The nearest tool run it stands in: what happens inside a tool is not the agent's own conversation."""
    agent: "Node | None" = None
    """The nearest agent it stands in, itself included, not looking beyond a tool run."""
    call: "Node | None" = None
    """The model call whose span it stands in, with nothing but wrappers between."""
    is_evaluation: bool = False
    """Whether it is an evaluator's or guardrail's own, or stands below one."""

    def ancestors(self) -> Iterator["Node"]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def descendants(self) -> Iterator["Node"]:
        todo = list(self.children)
        while todo:
            node = todo.pop()
            yield node
            todo.extend(node.children)


@dataclass(slots=True, eq=False)
class Trace:
    """All nodes of one trace in order of time, its roots, and the model calls left after duplicates are made one."""

    id: str
    nodes: list[Node]
    roots: list[Node]
    gaps: list[Gap]
    conversation_id: str | None = None
    start_ns: int = 0
    end_ns: int = 0


def trace_from_steps(trace_id: str, steps: Sequence[Step], id_keys: Sequence[str]) -> Trace:
    """The tree of a trace's steps. Order is by start, end, then span id, so that arrival never matters."""
    ordered = sorted(steps, key=_moment)
    nodes = [Node(step=s) for s in ordered]
    by_id = {n.step.ref.span_id: n for n in nodes}
    gaps: list[Gap] = []
    for node in nodes:
        parent_id = node.step.parent_span_id
        if parent_id is None:
            continue
        parent = by_id.get(parent_id)
        if parent is None:
            gap = Gap(reason=GapReason.PARENT_MISSING, where="parent_span_id")
            if gap not in gaps:
                gaps.append(gap)
        elif parent is not node and not _would_circle(node, parent):
            node.parent = parent
            parent.children.append(node)
    _adopt_called_agents(nodes)
    roots = [n for n in nodes if n.parent is None]
    _set_depths(roots)
    trace = Trace(id=trace_id, nodes=nodes, roots=roots, gaps=gaps)
    trace.start_ns = nodes[0].step.start_ns if nodes else 0
    trace.end_ns = max((n.step.end_ns for n in nodes), default=0)
    _set_conversation_ids(trace, id_keys)
    return trace


def _adopt_called_agents(nodes: list[Node]) -> None:
    """Hang an agent that runs beside the tool of its name, in the same moments, below that tool: flat producers lose the nesting of an
    agent
    called as a tool (OpenLLMetry for OpenAI Agents)."""
    agents = [n for n in nodes if n.step.kind is StepKind.AGENT and n.step.agent_name and n.parent is not None]
    tools = [n for n in nodes if n.step.kind is StepKind.TOOL and n.step.tool_name] if len(agents) > 1 else []
    for agent in agents if tools else ():
        name = _plain_name(agent.step.agent_name)
        for tool in tools:
            inside = tool.step.start_ns <= agent.step.start_ns and agent.step.end_ns <= tool.step.end_ns
            if inside and name in _plain_name(tool.step.tool_name) and not any(a is tool for a in agent.ancestors()):
                if agent.parent is not None and not any(a is agent for a in (tool, *tool.ancestors())):
                    agent.parent.children.remove(agent)
                    agent.parent = tool
                    tool.children.append(agent)
                break


def _plain_name(name: str | None) -> str:
    return "".join(c if c.isalnum() else "_" for c in (name or "").lower())


def _moment(step: Step) -> tuple[int, int, str]:
    return (step.start_ns, step.end_ns, step.ref.span_id)


def _would_circle(node: Node, parent: Node) -> bool:
    """Whether hanging `node` under `parent` closes a circle (only broken producers do this); cheap for real depths."""
    return bool(node.children) and any(a is node for a in parent.ancestors())


def _set_depths(roots: list[Node]) -> None:
    todo = [(r, 0) for r in roots]
    while todo:
        node, depth = todo.pop()
        node.depth = depth
        todo.extend((c, depth + 1) for c in node.children)


def _set_conversation_ids(trace: Trace, id_keys: Sequence[str]) -> None:
    """One spelling a trace, the best that occurs in it: own value, else the nearest ancestor's, else the outermost one."""
    found = {key for n in trace.nodes for key, _ in n.step.conversation_ids}
    if not found:
        return
    best = next((k for k in id_keys if k in found), next(iter(sorted(found))))
    own = {n.step.ref.span_id: value for n in trace.nodes for key, value in n.step.conversation_ids if key == best}
    carriers = [n for n in trace.nodes if n.step.ref.span_id in own]
    outermost = min(carriers, key=lambda n: (n.depth, _moment(n.step)))
    trace.conversation_id = own[outermost.step.ref.span_id]
    todo: list[tuple[Node, str | None]] = [(r, None) for r in trace.roots]
    while todo:
        node, inherited = todo.pop()
        node.conversation_id = own.get(node.step.ref.span_id, inherited)
        todo.extend((c, node.conversation_id) for c in node.children)
    several = len(set(own.values())) > 1
    for node in trace.nodes:
        if node.conversation_id is None:
            node.conversation_id = (_id_at(node, carriers, own) if several else None) or trace.conversation_id


def _id_at(node: Node, carriers: list[Node], own: dict[str, str]) -> str | None:
    """The one conversation whose spans were open while this one ran (a server's span beside the client's)."""
    step = node.step
    around = {own[c.step.ref.span_id] for c in carriers if c.step.start_ns <= step.start_ns and step.end_ns <= c.step.end_ns}
    return around.pop() if len(around) == 1 else None


def set_scopes(trace: Trace) -> None:
    """Tell every node its tool run, its agent, and whether it is an evaluator's. Again after kinds have changed."""
    todo: list[tuple[Node, Node | None, Node | None, Node | None, bool]] = [(r, None, None, None, False) for r in trace.roots]
    while todo:
        node, tool, agent, call, judged = todo.pop()
        kind = node.step.kind
        node.tool, node.call = tool, call
        if kind is StepKind.AGENT:
            agent, call = node, None
        node.agent = agent
        if kind is StepKind.EVALUATION:
            judged = True
        node.is_evaluation = judged
        if node.children:
            if kind is StepKind.TOOL:
                tool, agent, call = node, None, None
            elif kind is StepKind.INFERENCE:
                call = node
            todo.extend([(c, tool, agent, call, judged) for c in node.children])


def collapse_duplicates(trace: Trace) -> int:
    """Make one of several recordings of one model call or tool run; how many were folded away.

    Model calls: nested with nothing but wrappers between; the same response id; or side by side, one inside the other in time, with the
    same
    answer. Tool runs: nested under one of the same name (a framework's span and an MCP client's). **Source**: semconv traps T11, T17.
    """
    set_scopes(trace)
    nested = any(n.call is not None and n.step.kind is StepKind.INFERENCE for n in trace.nodes)
    folded = (_fold_nested_calls(trace) if nested else 0) + _fold_same_response(trace) + _fold_siblings(trace)
    for node in trace.nodes:
        outer = node.tool
        if node.step.kind is StepKind.TOOL and outer is not None and _same_tool(outer.step, node.step):
            outer.step = replace(outer.step, read_content=_both(outer.step, node.step), is_error=outer.step.is_error or node.step.is_error)
            _demote(node)
            folded += 1
    if folded or nested:
        set_scopes(trace)
    return folded


def _same_tool(outer: Step, inner: Step) -> bool:
    return inner.tool_name is None or outer.tool_name is None or outer.tool_name == inner.tool_name


def _demote(node: Node) -> None:
    node.step = replace(node.step, kind=StepKind.WRAPPER, read_content=None)


def _fold_nested_calls(trace: Trace) -> int:
    folded = 0
    for node in sorted(trace.nodes, key=lambda n: -n.depth):
        if node.step.kind is not StepKind.INFERENCE:
            continue
        calls = [n for n in _directly_inside(node) if n.step.kind is StepKind.INFERENCE]
        good = [n for n in calls if not n.step.is_error] or calls[-1:]
        if not calls:
            continue
        if len({n.step.response_id or n.step.ref.span_id for n in good}) > 1:
            node.step = replace(node.step, kind=StepKind.WRAPPER)  # it groups several calls: a run, not a call
            continue
        if not _tell_one_call(node.step, good[0].step):
            continue  # an agent's own call around another agent's (Google ADK by OpenInference)
        node.step = _merged(node.step, good[0].step)
        for call in calls:
            _demote(call)
            folded += 1
    return folded


def _tell_one_call(outer: Step, inner: Step) -> bool:
    """Whether two nested recordings can be of one call: the same id, nothing said on one side, or the same answer or question."""
    if outer.response_id and outer.response_id == inner.response_id:
        return True
    ours, theirs = outer.content, inner.content
    if not ours.output or not theirs.output:
        return True
    if same_answer(ours.output, theirs.output):
        return True
    return outer.agent_name in (None, inner.agent_name) and same_last_input(outer, inner)


def _directly_inside(node: Node) -> Iterator[Node]:
    """Descendants with nothing but wrappers between."""
    todo = list(node.children)
    while todo:
        child = todo.pop(0)
        yield child
        if child.step.kind in _PLAIN:
            todo.extend(child.children)


def _fold_same_response(trace: Trace) -> int:
    first: dict[str, Node] = {}
    folded = 0
    for node in trace.nodes:
        response_id = node.step.response_id
        if node.step.kind is not StepKind.INFERENCE or not response_id:
            continue
        known = first.setdefault(response_id, node)
        if known is not node and known.tool is node.tool and not _goes_on(known.step, node.step):
            known.step = _merged(known.step, node.step)
            _demote(node)
            folded += 1
    return folded


def _goes_on(known: Step, step: Step) -> bool:
    """Whether a call under the same id came later and says something else: one id for a run (OpenAI Assistants), no second recording."""
    if step.start_ns < known.end_ns:
        return False
    ours, theirs = known.content.output, step.content.output
    return bool(ours and theirs) and not same_answer(ours or (), theirs or ())


def _fold_siblings(trace: Trace) -> int:
    """Two instrumentations side by side: one interval inside the other, the same answer or no content on one side."""
    folded = 0
    previous: Node | None = None
    for node in trace.nodes:
        if node.step.kind is not StepKind.INFERENCE:
            continue
        if previous is not None and previous.parent is node.parent and _recorded_twice(previous.step, node.step):
            previous.step = _merged(previous.step, node.step)
            _demote(node)
            folded += 1
        else:
            previous = node
    return folded


def _recorded_twice(a: Step, b: Step) -> bool:
    if a.dialects == b.dialects and a.response_id and b.response_id:
        return False  # two ids, two calls
    if not (a.start_ns <= b.start_ns and b.end_ns <= a.end_ns and b.start_ns < b.end_ns) or a.is_error != b.is_error:
        return False
    ours, theirs = a.content.output, b.content.output
    if ours and theirs:
        return same_answer(ours, theirs) and same_last_input(a, b)
    return False


def same_last_input(a: Step, b: Step) -> bool:
    """Whether the last thing said to the model is the same in both; unknown counts as the same."""
    ours, theirs = _last(a.content.input), _last(b.content.input)
    return ours is None or theirs is None or ours.text == theirs.text


def _last(messages: tuple[Message, ...] | None) -> Message | None:
    return messages[-1] if messages else None


def _merged(outer: Step, inner: Step) -> Step:
    """Both recordings as one: the outer's place, whatever either knows."""
    return replace(
        outer,
        start_ns=min(outer.start_ns, inner.start_ns),
        end_ns=max(outer.end_ns, inner.end_ns),
        dialects=tuple(dict.fromkeys((*outer.dialects, *inner.dialects))),
        agent_name=outer.agent_name or inner.agent_name,
        response_id=outer.response_id or inner.response_id,
        previous_response_id=outer.previous_response_id or inner.previous_response_id,
        model=outer.model or inner.model,
        provider=outer.provider or inner.provider,
        finish_reasons=outer.finish_reasons or inner.finish_reasons,
        usage=outer.usage if outer.usage.input_tokens is not None or outer.usage.output_tokens is not None else inner.usage,
        is_error=outer.is_error and inner.is_error,
        read_content=_both(outer, inner),
        _content=None,
    )


def _both(outer: Step, inner: Step):  # type: ignore[no-untyped-def]  # returns a closure typed below
    def read() -> StepContent:
        return richer_of(outer.content, inner.content)

    return read


def richer_of(a: StepContent, b: StepContent) -> StepContent:
    """Field by field the better recording: what is there, then what is whole, then what says more; the first on a tie."""
    damaged_a = any(g.reason in _DAMAGED for g in a.gaps)
    damaged_b = any(g.reason in _DAMAGED for g in b.gaps)

    def pick(x: tuple[Message, ...] | None, y: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
        if not x or not y:
            return x or y or (x if x is not None else y)
        if damaged_a != damaged_b and len(x) != len(y):
            return y if damaged_a and len(y) > len(x) else x
        return y if _weight(y) > _weight(x) else x

    given, answer = pick(a.input, b.input), pick(a.output, b.output)
    missing = given is None and answer is None
    gaps = tuple(g for g in (*a.gaps, *b.gaps) if missing or g.reason is not GapReason.CONTENT_NOT_CAPTURED)
    return StepContent(
        system=a.system or b.system,
        input=given,
        output=answer,
        tool_call=a.tool_call if a.tool_call and a.tool_call.arguments is not None else b.tool_call or a.tool_call,
        tool_result=a.tool_result or b.tool_result,
        tool_definitions=a.tool_definitions or b.tool_definitions,
        earlier=a.earlier or b.earlier,
        gaps=tuple(dict.fromkeys(gaps)),
    )


def _weight(messages: Iterable[Message]) -> tuple[int, int]:
    parts = [p for m in messages for p in m.parts]
    return (sum(1 for m in messages if m.tool_calls), len(parts))
