"""What can be read from some input, what is missing, and what brings it. Facts and numbers only, never content."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_eval.dialects import BUILTIN, Dialect
from otel_eval.model import Conversation, Gap, GapReason, Step, StepKind
from otel_eval.model.sentences import GAP_SENTENCES
from otel_eval.service.convert import Conversion
from otel_eval.service.remedies import Remedy, remedies_of
from otel_eval.service.survey import Survey, has_failed, has_words, says_something, tool_counts

Ready: TypeAlias = Literal["yes", "partly", "no"]

_NAMES_SHOWN = 20
_DAMAGE = frozenset(
    {
        GapReason.ATTRIBUTES_DROPPED,
        GapReason.CONTENT_EXTERNAL,
        GapReason.CONTENT_NOT_CAPTURED,
        GapReason.REDACTED,
        GapReason.TRUNCATED,
    }
)
"""Gaps for which words may be missing that a verdict would need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What stands in the input."""

    files: int
    spans: int
    log_records: int
    traces: int
    conversations: int
    given: int
    """Conversations given in JSON, not read from spans."""
    sub_agents: int
    dialects: Mapping[str, int]
    """Spans by dialect; one span may speak several."""
    steps: Mapping[str, int]
    """Spans by kind of step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How much of the content was recorded. A model call that failed need not have an output."""

    model_calls: int
    with_input: int
    failed: int
    with_output: int
    tool_calls: int
    with_arguments: int
    with_result: int
    conversations: int
    with_id: int
    with_words: int
    """Those in which the user and the agent say something."""
    joined_by: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GapCount:
    """A reason for something missing, and how many conversations it is met in."""

    reason: str
    sentence: str
    conversations: int
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUnderstood:
    """Spans that no dialect speaks for."""

    spans: int
    names: Mapping[str, int]
    """Attribute names by number of spans, the most frequent first."""
    ordinary_spans: int
    """Those that have nothing to do with agents (HTTP, databases): no fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What was recognised as not to be counted or not to be read."""

    repeated: int
    duplicate_calls: int
    duplicate_traces: int
    evaluator_spans: int
    conflicts: int
    loose_logs: int
    unreadable_conversations: int
    rejected: Mapping[str, int]
    rejected_at: Mapping[str, tuple[str, ...]]
    """File and line of the first rejected items, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything that `otel-eval doctor` says."""

    ready: Ready
    why: str
    found: Found
    content: Coverage
    gaps: tuple[GapCount, ...]
    remedies: tuple[Remedy, ...]
    not_understood: NotUnderstood
    left_out: LeftOut
    notes: tuple[str, ...]
    """Sentences on single files."""


def diagnosis_of(conversion: Conversion, survey: Survey, dialects: Sequence[Dialect] = BUILTIN) -> Diagnosis:
    """The diagnosis of converted input; `survey` has seen its spans."""
    steps = list(survey.steps())
    content = _coverage(conversion.conversations, steps)
    ready, why = _verdict(conversion, survey)
    return Diagnosis(
        ready=ready,
        why=why,
        found=_found(conversion),
        content=content,
        gaps=_gap_counts(conversion.conversations),
        remedies=tuple(remedies_of(conversion.conversations, steps, survey, dialects, logs=_log_records(conversion))),
        not_understood=NotUnderstood(
            spans=survey.unknown, names=dict(survey.unknown_names.most_common(_NAMES_SHOWN)), ordinary_spans=survey.ordinary
        ),
        left_out=_left_out(conversion),
        notes=(*conversion.report.reading.remarks(), *conversion.report.faults),
    )


def _found(conversion: Conversion) -> Found:
    report, conversations = conversion.report, conversion.conversations
    return Found(
        files=report.reading.files,
        spans=report.reading.items.get("span", 0),
        log_records=_log_records(conversion),
        traces=report.assembly.traces,
        conversations=len(conversations),
        given=sum(conversion.beside(c) is not None for c in conversations),
        sub_agents=sum(c.sub_agent_of is not None for c in conversations),
        dialects=dict(report.dialects.most_common()),
        steps={str(kind): n for kind, n in report.kinds.most_common()},
    )


def _log_records(conversion: Conversion) -> int:
    return conversion.report.reading.items.get("log_record", 0)


def _coverage(conversations: Sequence[Conversation], steps: Sequence[Step]) -> Coverage:
    calls = [s for s in steps if s.kind is StepKind.INFERENCE]
    counts = [tool_counts(c) for c in conversations]
    return Coverage(
        model_calls=len(calls),
        with_input=sum(says_something(s.content.input) for s in calls),
        failed=sum(has_failed(s) for s in calls),
        with_output=sum(says_something(s.content.output) for s in calls),
        tool_calls=sum(total for total, _, _ in counts),
        with_arguments=sum(arguments for _, arguments, _ in counts),
        with_result=sum(results for _, _, results in counts),
        conversations=len(conversations),
        with_id=sum(c.id is not None for c in conversations),
        with_words=sum(map(has_words, conversations)),
        joined_by=dict(Counter(c.joined_by for c in conversations)),
    )


def _verdict(conversion: Conversion, survey: Survey) -> tuple[Ready, str]:
    """Whether the conversations that a user had can be scored: all, some or none of them."""
    own = [c for c in conversion.conversations if c.sub_agent_of is None] or conversion.conversations
    if not own:
        return "no", f"there is no conversation in the input: {_why_none(conversion, survey)}"
    worded = [c for c in own if has_words(c)]
    whole = [c for c in worded if not any(g.reason in _DAMAGE for g in c.gaps)]
    if not worded:
        return "no", _some_of(len(own), len(own), "lack", "the words of user or agent")
    if len(whole) == len(own):
        return "yes", _some_of(len(own), len(own), "hold", "the words of user and agent")
    return "partly", "; ".join(_shortfalls(len(own), len(worded), len(whole)))


def _shortfalls(own: int, worded: int, whole: int) -> Iterable[str]:
    if worded < own:
        yield _some_of(own - worded, own, "lack", "the words of user or agent")
    if whole < worded:
        yield _some_of(worded - whole, own, "hold", "words, but not all of them")


def _some_of(some: int, count: int, verb: str, what: str) -> str:
    """So many of all do something: "the conversation holds …", "all 3 conversations hold …", "1 of 3 conversations holds …"."""
    subject = "the conversation" if count == 1 else f"all {count} conversations" if some == count else f"{some} of {count} conversations"
    return f"{subject} {verb}{'s' if some == 1 else ''} {what}"


def _why_none(conversion: Conversion, survey: Survey) -> str:
    if not conversion.report.spans:
        return "neither spans nor conversations were found"
    if survey.unknown:
        return "no span is of an instrumentation that is understood; the attribute names below were met"
    return "no span tells of a model call, a tool run or an agent's run"


def _gap_counts(conversations: Sequence[Conversation]) -> tuple[GapCount, ...]:
    places: dict[GapReason, Counter[str]] = defaultdict(Counter)
    met: Counter[GapReason] = Counter()
    for conversation in conversations:
        met.update({g.reason for g in conversation.gaps})
        for gap in conversation.gaps:
            places[gap.reason][_place(gap)] += 1
    return tuple(
        GapCount(
            reason=reason.value,
            sentence=GAP_SENTENCES[reason],
            conversations=count,
            places=tuple(name for name, _ in places[reason].most_common(_NAMES_SHOWN)),
        )
        for reason, count in met.most_common()
    )


def _place(gap: Gap) -> str:
    """Where it is met; without the numbers of single messages, which would make each place another."""
    return "".join("N" if c.isdigit() else c for c in gap.where) if "[" in gap.where else gap.where


def _left_out(conversion: Conversion) -> LeftOut:
    report = conversion.report
    return LeftOut(
        repeated=report.repeated,
        duplicate_calls=report.assembly.duplicate_calls,
        duplicate_traces=report.assembly.duplicate_traces,
        evaluator_spans=report.assembly.evaluator_spans,
        conflicts=report.conflicts,
        loose_logs=report.loose_logs,
        unreadable_conversations=report.unreadable,
        rejected=dict(report.reading.rejected),
        rejected_at={reason: tuple(places) for reason, places in report.reading.rejected_at.items()},
    )
