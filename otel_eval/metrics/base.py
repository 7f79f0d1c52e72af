"""The seam of a metric: a card that says what it is, and one verb that gives an outcome.

A metric is written once and registered with one line (`metrics/__init__.py`, or an entry point in `otel_eval.metrics`). It gets one
argument, which can grow, and answers `Score | Skipped | Failed`; what it needs stands on its card, so that nobody has to run it to know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from otel_eval.judges.base import Judge
from otel_eval.model import NO_REFERENCE, Conversation, Message, Outcome, Reference, ToolCall, TurnReference

Need: TypeAlias = Literal["judge", "reference_tool_calls", "reference_outcome", "reference_response", "topics", "question"]
Level: TypeAlias = Literal["conversation", "turn"]
Kind: TypeAlias = Literal["boolean", "number", "text", "list", "mapping", "any"]

RAGAS, RAGAS_LEGACY, ADK = "ragas", "ragas-legacy", "adk"
"""Values of `compat`: the numbers of ragas 0.4.3 (`ragas.metrics.collections`), of its deprecated classes (`ragas.metrics`), and of
google-adk 2.13.0, each bit for bit and with its oddities."""

UNBOUNDED = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One thing a metric can be told, with the value it has when it is not."""

    name: str
    sentence: str
    kind: Kind
    default: Any = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCard:
    """What a metric is. Documents, validation and `otel-eval metrics` are made from it.

    `range` holds every value the metric can give, both ends included. `example` is one worked number. A changed meaning raises `version`.
    """

    name: str
    sentence: str
    source: str
    example: str
    version: str = "1"
    range: tuple[float, float] = (0.0, 1.0)
    better: Literal["higher", "lower", "neither"] = "higher"
    unit: str = "1"
    """In the style of UCUM, as OpenTelemetry writes units: `1`, `s`, `{token}`, `USD`."""
    labels: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    level: Level = "conversation"
    deterministic: bool = True
    stability: Literal["stable", "experimental"] = "stable"
    parameters: tuple[Parameter, ...] = ()
    compat: tuple[str, ...] = ()
    """The values of `compat` it knows, beside None."""
    prompts: tuple[str, ...] = ()
    """What it may ask a judge: the preamble, its own way's (`_small`: small models), other strategies', `compat`'s."""

    def default(self, name: str) -> Any:
        """The value of a parameter that is not given."""
        return next(p.default for p in self.parameters if p.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInput:
    """All that a metric may look at. New fields come with a default, so a metric written today goes on working."""

    conversation: Conversation
    reference: Reference = NO_REFERENCE
    judge: Judge | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    compat: str | None = None
    turn: int | None = None
    """Index of the turn to judge, in `conversation.turns`; None for the conversation as a whole."""
    deadline: float | None = None
    """Moment on the clock of `time.monotonic` after which no answer is wanted."""
    secret: bytes = b""
    """Key of the fence around untrusted text in a judge's prompt; must be unknown to whoever wrote that text."""
    revision: int = 1
    record_tokens: int = 24_000
    """Estimated tokens that the rendered conversation may take in a judge's prompt."""

    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was worked out about a conversation, beside that conversation. An input made from this one by `dataclasses.replace` has the same
    memo, so that a dozen metrics join calls with results only once; it is not for telling one metric about another."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages to judge: the turn's, else all."""
        if self.turn is None:
            return self.conversation.messages
        return self.conversation.turns[self.turn].messages if self.turn < len(self.conversation.turns) else ()

    @property
    def first_message(self) -> int:
        """Index of the first of `messages` among the conversation's: what evidence is counted from."""
        return sum(len(t.messages) for t in self.conversation.turns[: self.turn]) if self.turn else 0

    @property
    def expected_turn(self) -> TurnReference | None:
        """What is expected of the judged turn, if that is written down."""
        turns = self.reference.turns or ()
        return turns[self.turn] if self.turn is not None and self.turn < len(turns) else None

    @property
    def expected_calls(self) -> tuple[ToolCall, ...] | None:
        """The tool calls expected of `messages`, in order; None where nothing is written down."""
        if self.turn is not None:
            return self.expected_turn.tool_calls if self.expected_turn else None
        if self.reference.tool_calls is not None:
            return self.reference.tool_calls
        by_turn = [t.tool_calls for t in self.reference.turns or () if t.tool_calls is not None]
        return tuple(c for calls in by_turn for c in calls) if by_turn else None

    def value(self, card: MetricCard, name: str) -> Any:
        """A parameter as given, else its default."""
        return self.parameters[name] if name in self.parameters else card.default(name)


@runtime_checkable
class Metric(Protocol):
    """Scores one conversation, or one turn of it. It never raises for what a conversation holds, and never answers 0 for a doubt."""

    @property
    def card(self) -> MetricCard: ...

    async def score(self, given: MetricInput) -> Outcome: ...
