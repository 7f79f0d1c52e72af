"""Who talks with whom inside one trace: the line of talk the user sees, and those of sub-agents and utility calls.

What runs inside a tool is a sub-agent's. Outside tools, model calls belong to one line when they share history (so handoffs stay
together), or
when they stand in one agent scope under one system prompt (so deltas do); else they are apart (titles, guardrails, other agents of a crew).
**Source**: semconv trap T10; field bugs A13, D19.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

from otel_eval.assembly.alike import same_message, same_text
from otel_eval.assembly.thread import conversational, is_quoted
from otel_eval.assembly.tree import Node, Trace
from otel_eval.model import Message, Step, StepKind, ToolCall

_HANDOFF_WORDS = ("transfer", "handoff", "hand_off", "hand-off", "switch_to", "delegate_to")
_RUNS = frozenset({StepKind.AGENT, StepKind.WORKFLOW})


@dataclass(slots=True, eq=False)
class Line:
    """The steps of one line of talk in one trace."""

    conversation_id: str | None
    calls: list[Step] = field(default_factory=list)
    tools: list[Step] = field(default_factory=list)
    frames: list[Step] = field(default_factory=list)
    """The agent, workflow and wrapper spans around it, outermost first: where content is sought that no model call carries."""
    agents: list[str] = field(default_factory=list)
    sub_agent_of: str | None = None
    scope: str | None = None
    """The span below which a sub-agent's line stands."""
    root: Step | None = None
    is_called: bool = False
    """Whether it ran inside a tool or a call of another line: never the user's."""

    @property
    def system(self) -> str | None:
        """The system prompt of its first model call."""
        return next((_system(c) for c in self.calls), None) or None

    @property
    def agent(self) -> str | None:
        return self.agents[0] if self.agents else None


def lines_from_trace(trace: Trace) -> list[Line]:
    """The lines of a trace, the user's first."""
    live = [n for n in trace.nodes if not n.is_evaluation]
    by_tool: dict[Node | None, list[Node]] = {}
    for node in live:
        by_tool.setdefault(node.tool, []).append(node)
    main = _main_lines(trace, by_tool.get(None, []))
    outer_key = (main[0].conversation_id or trace.id) if main else trace.id
    subs: list[Line] = []
    for tool, nodes in by_tool.items():
        if tool is None or not any(n.step.kind in (StepKind.INFERENCE, StepKind.AGENT) for n in nodes):
            continue
        for line in _split(nodes):
            line.sub_agent_of, line.scope, line.is_called = outer_key, line.scope or tool.step.ref.span_id, True
            subs.append(line)
    return [*main, *subs]


def _main_lines(trace: Trace, nodes: list[Node]) -> list[Line]:
    """Outside tools: one line a conversation id; of several under one id the outermost, longest is the user's, the others are
    sub-agents'."""
    by_id: dict[str | None, list[Node]] = {}
    for node in nodes:
        by_id.setdefault(node.conversation_id, []).append(node)
    out: list[Line] = []
    known: dict[str | None, Line] = {}
    for conversation_id, members in by_id.items():
        lines = _split(members)
        if not lines:
            continue
        first, *rest = lines
        known[conversation_id] = first
        nested = _outer_id(members, conversation_id, trace)
        if nested is not None:
            first.sub_agent_of, first.scope = nested, members[0].step.ref.span_id
        out.append(first)
        for line in rest:
            line.sub_agent_of = conversation_id or trace.id
            out.append(line)
    return sorted(out, key=lambda line: line.sub_agent_of is not None)


def _outer_id(members: list[Node], conversation_id: str | None, trace: Trace) -> str | None:
    """The id of the conversation around these nodes, where they stand inside an agent of another one."""
    top = min(members, key=lambda n: n.depth)
    for ancestor in top.ancestors():
        if ancestor.step.kind in _RUNS and ancestor.conversation_id != conversation_id:
            return ancestor.conversation_id or trace.id
    return None


def _split(nodes: list[Node]) -> list[Line]:
    """The lines among these nodes, the outermost and longest first."""
    parts: list[_Part] = []
    for node in nodes:
        if node.step.kind is StepKind.INFERENCE:
            part = _part_of(node, parts)
            if part is None:
                part = _Part(is_called=any(p.nodes and node.agent not in (n.agent for n in p.nodes[-1:]) and p.calls(node) for p in parts))
                parts.append(part)
            part.add(node)
    told = _answer_of_run(nodes) if len(parts) > 1 else None
    parts.sort(key=lambda p: (p.is_called, p.depth, not p.is_substantial(told), -p.heard, p.nodes[0].step.start_ns))
    if not parts:
        return _line_without_calls(nodes)
    _give_tools(parts, [*(n for n in nodes if n.step.kind is StepKind.TOOL), *_likely_tools(parts, nodes)])
    return [_line(p, nodes if p is parts[0] else p.nodes, main=p is parts[0]) for p in parts]


def _part_of(node: Node, parts: list["_Part"]) -> "_Part | None":
    """The part that a model call goes on with, by the surest sign; of several alike the one opened last."""
    best, surest = None, _NO
    for part in reversed(parts):
        sign = part.fits(node)
        if sign > surest:
            best, surest = part, sign
        if surest == _SURE:
            break
    return best


_NO, _SAME_SCOPE, _SAME_PROMPT, _SURE = range(4)


def _answer_of_run(nodes: list[Node]) -> str | None:
    """The answer that the outermost span with one tells: the user's line is the one that gave it."""
    frames = [n for n in nodes if n.step.kind in _RUNS or (n.step.kind is StepKind.WRAPPER and n.step.read_content)]
    for frame in sorted(frames, key=lambda n: (n.depth, n.step.start_ns)):
        text = next((m.text for m in reversed(frame.step.content.output or ()) if m.role == "assistant" and m.text), None)
        if text is not None:
            return text
    return None


def _line_without_calls(nodes: list[Node]) -> list[Line]:
    """Agents and tools whose model calls were not recorded, or wrappers alone."""
    tools = [n for n in nodes if n.step.kind is StepKind.TOOL]
    frames = [n for n in nodes if n.step.kind in _RUNS or (n.step.kind is StepKind.WRAPPER and n.step.read_content)]
    if not tools and not frames:
        return []
    line = Line(conversation_id=(tools or frames)[0].conversation_id)
    line.tools = [n.step for n in tools]
    line.frames = [n.step for n in sorted(frames, key=lambda n: (n.depth, n.step.start_ns))]
    line.agents = _names(n for n in frames if n.step.kind is StepKind.AGENT)
    line.root = _root_of(nodes)
    return [line]


@dataclass(slots=True, eq=False)
class _Part:
    """Model calls found to belong together."""

    nodes: list[Node] = field(default_factory=list)
    tools: list[Node] = field(default_factory=list)
    scopes: set[Hashable] = field(default_factory=set)
    first: Message | None = None
    call_ids: set[str] = field(default_factory=set)
    call_names: set[str] = field(default_factory=set)
    systems: set[str] = field(default_factory=set)
    heard: int = 0
    """Messages of the first input: the talk's own line knows the talk."""
    answered: bool = False
    """Whether the last model call ended in words and asked for no tool."""
    answer: str | None = None
    pending: list[ToolCall] = field(default_factory=list)
    """Calls of the last answer: what comes before their results runs inside them."""
    depth: int = 1_000
    is_called: bool = False
    """Whether it began inside a call of another line."""

    def add(self, node: Node) -> None:
        self.nodes.append(node)
        scope = node.agent
        self.scopes.add(_scope_key(scope))
        self.depth = min(self.depth, scope.depth if scope is not None else node.depth)
        content = node.step.content
        last = (content.output or ())[-1:]
        self.pending = [c for m in last for c in m.tool_calls]
        self.answered = bool(last) and not self.pending and last[0].text is not None
        self.answer = last[0].text if self.answered else self.answer
        if self.first is None:
            given = _heard(content.input)
            self.heard = len(content.input or ())
            self.first = given[0] if given else None
            self._note_calls(given)
        self.systems.add(_system(node.step))
        self._note_calls(content.output or ())

    def calls(self, node: Node) -> bool:
        """Whether another agent runs inside a call that waits for its result: then it is a sub-agent, though it is told the same words.

        A handoff is told of the call (or shown it as a quoted transcript), and is named as one.
        """
        if not self.pending or node.agent is None or _system(node.step) in self.systems:
            return False
        if any(c.name and c.name.lower().startswith(_HANDOFF_WORDS) for c in self.pending):
            return False
        given = node.step.content.input or ()
        waiting = {c.id for c in self.pending if c.id}
        told = any(c.id in waiting for m in given for c in m.tool_calls) or any(is_quoted(m) for m in given)
        return not told

    def is_substantial(self, told: str | None) -> bool:
        """Whether it did more than answer once, or gave the answer of the run: no title, guardrail or judge."""
        return (
            len(self.nodes) > 1 or bool(self.call_names) or (told is not None and self.answer is not None and same_text(told, self.answer))
        )

    def _is_asked_apart(self, node: Node) -> bool:
        """Whether another prompt is asked the same question without being told our answer: a guardrail, a title, a judge beside the
        agent."""
        if _system(node.step) in self.systems:
            return False
        given = node.step.content.input or ()
        return not any(m.role in ("assistant", "tool") or is_quoted(m) for m in given)

    def _note_calls(self, messages: Iterable[Message]) -> None:
        for message in messages:
            for call in message.tool_calls:
                if call.id:
                    self.call_ids.add(call.id)
                if call.name:
                    self.call_names.add(call.name)

    def fits(self, node: Node) -> int:
        """How surely a model call goes on here: by a shared beginning or results of our calls, else by scope and system prompt."""
        scope = _scope_key(node.agent)
        start = _first_said(node.step.content.input)
        alike = _SAME_PROMPT if _system(node.step) in self.systems else _SAME_SCOPE
        if start is None:
            return alike if scope in self.scopes else _SAME_SCOPE if node.step.content.output is None else _NO
        if scope not in self.scopes and self.calls(node):
            return _NO
        if self.answered and self._is_asked_apart(node):
            return _NO
        if self.first is not None and (start is self.first or same_message(self.first, start)):
            return _SURE if self.first.text is not None or scope in self.scopes else _NO
        given = _heard(node.step.content.input)
        if any(r.call_id in self.call_ids for m in given if (r := m.tool_result) and r.call_id):
            return _SURE
        if scope in self.scopes and (alike == _SAME_PROMPT or all(m.role == "tool" for m in given)):
            return alike
        return _NO


def _scope_key(agent: Node | None) -> Hashable:
    """Which agent's runs belong together: those of one name side by side (turns of one trace), else each run alone."""
    if agent is None:
        return None
    return (agent.step.agent_name, id(agent.parent)) if agent.step.agent_name else id(agent)


def _first_said(messages: tuple[Message, ...] | None) -> Message | None:
    """The first message that is no system prompt and no quoted transcript."""
    return next((m for m in messages or () if m.role != "system" and not is_quoted(m)), None)


def _heard(messages: tuple[Message, ...] | None) -> list[Message]:
    """The first messages of an input, for telling lines apart; all of a short one."""
    return conversational(messages[:4] if messages and len(messages) > 8 else messages or ()) if messages else []


def _system(step: Step) -> str:
    """The system prompt of a model call; "" without one."""
    content = step.content
    if content.system:
        return content.system
    for message in content.input or ():
        if message.role == "system":
            return message.text or ""
    return ""


_PLAIN_SPANS = frozenset({StepKind.WRAPPER, StepKind.OTHER})
_RUN_WORDS = ("execute_tool ", "running tool ", "tool ", "tool.", "tool:", "call_tool ")


def _likely_tools(parts: list[_Part], nodes: list[Node]) -> list[Node]:
    """Application spans that are called as a tool that was asked for: they tell of failures, though nothing says that they are tool
    runs."""
    asked = {name for p in parts for name in p.call_names}
    if not asked:
        return []
    out = []
    for node in nodes:
        if node.step.kind not in _PLAIN_SPANS or node.children:
            continue
        name = node.step.name
        for word in _RUN_WORDS:
            name = name.removeprefix(word)
        if name in asked:
            node.step = replace(node.step, tool_name=name)
            out.append(node)
    return out


def _give_tools(parts: list[_Part], tools: list[Node]) -> None:
    """Each tool run to the line that asked for it: by call id, else by agent scope, else to the first."""
    for node in tools:
        wanted = node.step.tool_call_id
        scope = _scope_key(node.agent)
        part = (
            next((p for p in parts if wanted and wanted in p.call_ids), None)
            or next((p for p in parts if scope in p.scopes), None)
            or parts[0]
        )
        part.tools.append(node)


def _line(part: _Part, nodes: list[Node], *, main: bool) -> Line:
    calls = [n.step for n in part.nodes]
    line = Line(conversation_id=part.nodes[0].conversation_id, calls=calls, tools=[n.step for n in part.tools], is_called=part.is_called)
    own = [n.agent for n in part.nodes]
    agents = [a for a in own if a is not None]
    line.scope = agents[0].step.ref.span_id if agents else part.nodes[0].step.ref.span_id
    line.agents = _names(agents) or [n.step.agent_name for n in part.nodes if n.step.agent_name][:1]
    if main:
        frames = [n for n in nodes if n.step.kind in _RUNS or (n.step.kind is StepKind.WRAPPER and n.step.read_content)]
        line.frames = [n.step for n in sorted(frames, key=lambda n: (n.depth, n.step.start_ns))]
        line.root = _root_of(nodes)
    else:
        line.frames = [a.step for a in dict.fromkeys(agents)]
        line.root = line.frames[0] if line.frames else calls[0]
    return line


def _root_of(nodes: list[Node]) -> Step:
    """The span to hang a verdict on: the outermost agent or workflow, else the outermost of all."""
    runs = [n for n in nodes if n.step.kind in _RUNS]
    return min(runs or nodes, key=lambda n: (n.depth, n.step.start_ns, n.step.ref.span_id)).step


def _names(nodes: Iterable[Node | None]) -> list[str]:
    return list(dict.fromkeys(n.step.agent_name for n in nodes if n is not None and n.step.agent_name))
