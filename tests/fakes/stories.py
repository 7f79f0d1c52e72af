"""Conversations made up, and told as traces in many styles: whatever the style, the conversation read back must be the one made up."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from otel_eval.model import LogRecord, Span
from tests.fakes.spans import DETAILS, Object, agent, call, chat, log, result, says, span, system, to_json, tool, user

TWICE: tuple[Literal["no", "inside", "beside", "orphan"], ...] = ("no", "no", "inside", "beside", "orphan")
WORDS = ("Hi", "Again!", "Book it.", "예약해 주세요", '{"a": 1}', "Line one\nline two", "No")


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call and what came of it."""

    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True, kw_only=True)
class Round:
    """Words beside calls, and the calls that were made at once."""

    words: str | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the user said, the rounds of tools, the answer."""

    question: str
    rounds: tuple[Round, ...]
    answer: str


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a story is told."""

    one_trace: bool = False
    """All turns in one trace, rather than a trace a turn."""
    history: bool = True
    """Inputs repeat the history; else they hold only what is new."""
    agents: bool = True
    """An agent's span around each turn."""
    ids: bool = True
    """Calls and results have ids; else order alone joins them."""
    tool_spans: bool = True
    results_in_input: bool = True
    """Results stand in the next input; else the tools' spans alone tell them."""
    in_logs: bool = False
    """Content in log records rather than on spans."""
    system: bool = True
    twice: Literal["no", "inside", "beside", "orphan"] = "no"
    """Each model call recorded by a second instrumentation too: inside the first one's span, beside it, or in a trace of its own."""
    reversed_results: bool = False
    retried: bool = False
    """Before each model call an attempt that failed."""
    titled: bool = False
    """Behind each answer a model call of the application's own: a title for the talk."""
    delegated: bool = False
    """Every tool asks a model of its own."""
    window: int | None = None
    """Inputs repeat only the last so many turns before the current one."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """A conversation in some style."""

    turns: tuple[Turn, ...]
    style: Style

    def items(self) -> list[Span | LogRecord]:
        """The spans and log records."""
        return list(_Teller(self).items())

    def lines(self) -> list[str]:
        """What `talk` must give."""
        out: list[str] = []
        for t, turn in enumerate(self.turns):
            out.append(f"user: {turn.question}")
            for r, one in enumerate(turn.rounds):
                shown = "".join(f" -> {c.name}({', '.join(f'{k}={v!r}' for k, v in c.arguments.items())})" for c in one.calls)
                out.append(f"assistant: {one.words or ''}{shown}" if one.words else f"assistant:{shown}")
                for place, c in enumerate(one.calls):
                    call_id = _call_id(t, r, place)
                    out.append(f"tool({call_id}): {c.result}" if self.style.ids else f"tool: {c.result}")
            out.append(f"assistant: {turn.answer}")
        return out


def _call_id(turn: int, round_: int, place: int) -> str:
    return f"c{turn}.{round_}.{place}"


class _Teller:
    """Counts spans while the story goes on."""

    def __init__(self, story: Story) -> None:
        self.story, self.style = story, story.style
        self.number = 0
        self.history: list[Object] = []
        self.fresh: list[Object] = []
        self.starts: list[int] = []
        """Where each turn begins in the history."""

    def items(self) -> Iterator[Span | LogRecord]:
        for t, turn in enumerate(self.story.turns):
            yield from self.turn(t, turn)

    def next(self) -> int:
        self.number += 1
        return self.number

    def turn(self, t: int, turn: Turn) -> Iterator[Span | LogRecord]:
        trace = 1 if self.style.one_trace else t + 1
        root = self.next() if self.style.agents else None
        self.starts.append(len(self.history))
        self.say(user(turn.question))
        for r, one in enumerate(turn.rounds):
            calls = [call(c.name, c.arguments, _call_id(t, r, p) if self.style.ids else None) for p, c in enumerate(one.calls)]
            yield from self.model(trace, root, says(one.words, *calls))
            yield from self.tools(trace, root, t, r, one)
        yield from self.model(trace, root, says(turn.answer))
        if self.style.titled:
            title = [system("Write a title."), user(f"Title for: {turn.question}")]
            yield chat(self.next(), title, says("A title"), trace=trace, parent=root)
        if root is not None:
            yield agent(root, "desk", {"gen_ai.conversation.id": "c-1"}, trace=trace, end=self.number + 0.9)

    def say(self, message: Object) -> None:
        self.history.append(message)
        self.fresh.append(message)

    def model(self, trace: int, root: int | None, answer: Object) -> Iterator[Span | LogRecord]:
        given = self.given()
        ids = {} if self.style.agents else {"gen_ai.conversation.id": "c-1"}
        if self.style.retried:
            yield chat(self.next(), given, None, {**ids, "error.type": "429"}, trace=trace, parent=root, error="too many requests")
        number = self.next()
        if self.style.in_logs:
            yield chat(number, None, None, ids, trace=trace, parent=root)
            yield log(number, DETAILS, trace=trace, attributes={"gen_ai.input.messages": given, "gen_ai.output.messages": [answer]})
        else:
            yield chat(number, given, answer, ids, trace=trace, parent=root)
        if self.style.twice != "no":
            yield self.second(number, trace, root, given, answer)
        self.history.append(answer)
        self.fresh = []

    def given(self) -> list[Object]:
        """The input of the next model call."""
        window = self.style.window
        start = 0 if window is None else self.starts[max(0, len(self.starts) - 1 - window)]
        words = self.history[start:] if self.style.history else list(self.fresh)
        return [system("Be brief."), *words] if self.style.system else words

    def second(self, number: int, trace: int, root: int | None, given: list[Object], answer: Object) -> Span:
        """The recording of a model call by OpenInference."""
        request = {"openinference.span.kind": "LLM", "input.value": to_json({"messages": given}), "output.value": to_json(answer)}
        place = {"inside": (trace, number), "beside": (trace, root), "orphan": (100_000 + number, None)}[self.style.twice]
        seconds = (number + 0.1, number + 0.4)
        return span(number + 100_000, request, name="ChatCompletion", trace=place[0], parent=place[1], start=seconds[0], end=seconds[1])

    def tools(self, trace: int, root: int | None, t: int, r: int, one: Round) -> Iterator[Span]:
        ids = [_call_id(t, r, p) if self.style.ids else None for p in range(len(one.calls))]
        for c, call_id in zip(one.calls, ids, strict=True):
            if self.style.tool_spans:
                number = self.next()
                yield tool(number, c.name, c.arguments, c.result, call_id=call_id, trace=trace, parent=root, end=number + 1.9)
                if self.style.delegated:
                    yield chat(self.next(), [system("You find."), user(f"Find {number}")], says(c.result), trace=trace, parent=number)
        if self.style.results_in_input:
            told = [result(c.result, i) for c, i in zip(one.calls, ids, strict=True)]
            for message in reversed(told) if self.style.reversed_results else told:
                self.say(message)


CALLS = st.builds(
    Call,
    name=st.sampled_from(["book", "find"]),
    arguments=st.dictionaries(st.sampled_from(["city", "n"]), st.sampled_from(["Lisbon", 4, True]), max_size=2),
    result=st.sampled_from(["ok", "busy", '{"seats": 3}', "no such row"]),
)
ROUNDS = st.builds(Round, words=st.sampled_from([None, "Let me see."]), calls=st.lists(CALLS, min_size=1, max_size=3).map(tuple))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Stories in styles that can be told apart: what is joined by order keeps its order; results stand somewhere; deltas say new things."""
    history = draw(st.booleans())
    ids = draw(st.booleans()) or not history
    in_input = draw(st.booleans()) or history
    in_logs, retried = draw(st.booleans()), draw(st.booleans())
    agents, system_prompt = draw(st.booleans()), draw(st.booleans())
    style = Style(
        one_trace=draw(st.booleans()),
        history=history,
        agents=agents,
        ids=ids,
        tool_spans=draw(st.booleans()) or not in_input,
        results_in_input=in_input,
        in_logs=in_logs,
        system=system_prompt,
        twice=draw(st.sampled_from(TWICE)),
        reversed_results=ids and draw(st.booleans()),
        retried=retried and history,
        titled=agents and system_prompt and draw(st.booleans()),
        delegated=draw(st.booleans()),
        window=draw(st.sampled_from([None, None, 1, 2])) if history else None,
    )
    count = draw(st.integers(1, 4))
    turns = []
    for number in range(count):
        word = draw(st.sampled_from(WORDS))
        question = word if style.history and style.window is None else f"{word} ({number})"
        rounds = draw(st.lists(ROUNDS, max_size=2))
        turns.append(Turn(question=question, rounds=tuple(rounds), answer=f"{draw(st.sampled_from(WORDS))} [{number}]"))
    return Story(turns=tuple(turns), style=style)
