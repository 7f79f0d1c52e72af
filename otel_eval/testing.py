"""For those who write metrics, judges and sinks: a judge that answers by script, a sink that remembers, and checks of the contracts."""

import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from otel_eval.errors import JudgeError
from otel_eval.judges.base import (
    CERTAINTY,
    REASON,
    VERDICT,
    Blocks,
    Form,
    Items,
    Judge,
    Known,
    Question,
    Reply,
    Sentence,
    Words,
    answer_from_value,
)
from otel_eval.metrics.base import Metric, MetricInput
from otel_eval.model import (
    Conversation,
    Failed,
    FailReason,
    Gap,
    GapReason,
    JudgeUse,
    Message,
    Outcome,
    Report,
    Result,
    Role,
    Score,
    Skipped,
    SkipReason,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)
from otel_eval.sinks.base import Sink

Scripted: TypeAlias = Mapping[str, Any] | JudgeError
Script: TypeAlias = Scripted | Sequence[Scripted] | Callable[[Question], Scripted]


@dataclass(slots=True, kw_only=True)
class ScriptedJudge:
    """Answers by the name of the question, and remembers what it was asked.

    An answer is the reply object, an error to raise, a list of these in order (the last repeats), or a function of the question. Reasons,
    evidence and ids that a script leaves out are empty; everything else is held against the form as a real reply would be:

        judge = ScriptedJudge(answers={"yes_no": {"verdict": "yes"}})
    """

    answers: Mapping[str, Script]
    model: str = "scripted"
    confidence: float | None = None
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> Reply:
        before = sum(q.name == question.name for q in self.asked)
        self.asked.append(question)
        answer = self._answer(question, before)
        if isinstance(answer, JudgeError):
            raise answer
        checked, notes = answer_from_value(question.form, _completed(question.form, answer))
        use = JudgeUse(kind="model", model=self.model, prompt=question.prompt, prompt_hash=question.prompt_hash, calls=1)
        source = None if self.confidence is None else "samples"
        return Reply(answer=checked, use=use, confidence=self.confidence, confidence_source=source, notes=notes)

    def _answer(self, question: Question, before: int) -> Scripted:
        if question.name not in self.answers:
            known = ", ".join(map(repr, self.answers)) or "none"
            raise JudgeError("judge_misconfigured", f"the script has no answer to {question.name!r}; it has {known}")
        script = self.answers[question.name]
        if callable(script):
            return script(question)
        if isinstance(script, Mapping | JudgeError):
            return script
        return script[min(before, len(script) - 1)]


def _completed(form: Form, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with empty reasons, evidence and ids where the script has none."""
    filled = {**_empty(form.fields), **answer}
    for name, part in form.fields.items():
        if isinstance(part, Items) and isinstance(filled.get(name), list):
            filled[name] = [{**_empty(part.fields), **row} if isinstance(row, Mapping) else row for row in filled[name]]
    return filled


def _empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, leaf in fields.items():
        if isinstance(leaf, Sentence | Known):
            values[name] = ""
        elif isinstance(leaf, Blocks):
            values[name] = []
        elif isinstance(leaf, Words) and leaf.optional:
            values[name] = leaf.options[0]
    return values


@dataclass(slots=True, kw_only=True)
class RememberingSink:
    """Keeps every report it is given, in order."""

    reports: list[Report] = field(default_factory=list)

    async def write(self, report: Report) -> None:
        self.reports.append(report)


def sample_conversations() -> dict[str, Conversation]:
    """Small conversations that every metric must cope with, by what is special about them."""
    asked, call = _said("user", "Please book two seats for tonight at 20:00."), ToolCall(id="1", name="book", arguments={"seats": 2})
    booked, refused = '{"ok": true, "code": "NF-2071"}', '{"ok": false, "error": "no seats"}'
    done, korean = _said("assistant", "Your two seats are booked, code NF-2071."), _said("user", "두 자리 예약해 주세요.")
    hidden = Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="gen_ai.input.messages")
    messages: dict[str, tuple[Message, ...]] = {
        "empty": (),
        "only a user": (asked,),
        "only an agent": (done,),
        "a success": (asked, Message(role="assistant", parts=(call,)), _told(booked), done),
        "a failure": (asked, Message(role="assistant", parts=(call,)), _told(refused), done),
        "another language": (korean, _said("assistant", "예약했습니다.")),
        "nothing recorded": (Message(role="user"), Message(role="assistant", parts=(call,)), _told(None)),
    }
    found = {name: Conversation(id=name, messages=m, turns=(Turn(messages=m),) if m else ()) for name, m in messages.items()}
    return found | {"hidden content": Conversation(id="hidden", messages=messages["nothing recorded"], gaps=(hidden,))}


def _said(role: Role, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


def _told(content: str | None) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id="1", name="book", content=content),))


async def metric_problems(metric: Metric, judge: Judge | None = None, **given: Any) -> list[str]:
    """What a metric does that no metric may, each in a sentence; empty for one that keeps the contract.

    It raises for nothing that a conversation holds, keeps its range and labels, points at messages that are there, gives nothing for an
    empty conversation, and the same twice if its card says that it is deterministic. `given` are further members of `MetricInput`.
    """
    problems = [] if metric.card.range[0] <= metric.card.range[1] else ["the card's range begins above its end"]
    for name, conversation in sample_conversations().items():
        inputs = [MetricInput(conversation=conversation, judge=judge, secret=b"contract", **given) for _ in range(2)]
        outcomes = [await _outcome(metric, i) for i in inputs]
        problems += [f"{name}: {problem}" for problem in _outcome_problems(metric, conversation, outcomes[0])]
        if metric.card.deterministic and outcomes[0] != outcomes[1]:
            problems.append(f"{name}: the card says deterministic, and two runs differ")
    return problems


async def _outcome(metric: Metric, given: MetricInput) -> Any:
    try:
        return await metric.score(given)
    except Exception as error:  # a plug-in's: what it raises is what is looked for
        return error


def _outcome_problems(metric: Metric, conversation: Conversation, outcome: Any) -> Iterator[str]:
    if isinstance(outcome, JudgeError | Skipped | Failed):
        return
    if not isinstance(outcome, Score):
        yield f"it gave a {type(outcome).__name__}; expected Score, Skipped or Failed"
        return
    low, high = metric.card.range
    if not conversation.messages:
        yield "it scored an empty conversation"
    if not (math.isfinite(outcome.value) and low <= outcome.value <= high):
        yield f"the value {outcome.value} is outside {low} to {high}"
    if outcome.label is not None and metric.card.labels and outcome.label not in metric.card.labels:
        yield f"the label {outcome.label!r} is not on the card"
    if any(not 0 <= index < len(conversation.messages) for index in outcome.evidence):
        yield "the evidence points at messages that are not there"


async def judge_problems(judge: Judge) -> list[str]:
    """What a judge does that no judge may: an answer that is not in the form, or an error without a closed reason."""
    problems = []
    for form in (_YES_NO, _TABLE):
        question = Question(name=form.name, form=form, preamble="P", record="R", ask="A", conversation=sample_conversations()["a success"])
        problems += [f"{form.name}: {problem}" async for problem in _answer_problems(judge, question)]
    return problems


async def _answer_problems(judge: Judge, question: Question) -> AsyncIterator[str]:
    try:
        reply = await judge.ask(question)
    except JudgeError as error:
        if error.reason not in set(FailReason):
            yield f"{error.reason!r} is no reason of `model.FailReason`"
        return
    except Exception as error:  # a plug-in's: what it raises is what is looked for
        yield f"it raised {type(error).__name__}; expected an answer or JudgeError"
        return
    try:
        if answer_from_value(question.form, reply.answer)[0] != dict(reply.answer):
            yield "the answer is not in the normal form of `answer_from_value`"
    except JudgeError as error:
        yield f"the answer is not in the form that was asked for: {error}"


_YES_NO = Form(name="yes_no", fields={"reason": REASON, "evidence": Blocks(count=4), "certainty": CERTAINTY, "verdict": VERDICT})
_TABLE = Form(
    name="table",
    fields={"requests": Items(key="request", ids=("r1", "r2"), fields={"reason": REASON, "status": Words(options=("reached", "dropped"))})},
)


async def sink_problems(sink: Sink, written: Callable[[], Sequence[str]]) -> list[str]:
    """What a sink does that no sink may: lose a result, or stop at one without a score.

    `written` gives the ids of all results that arrived. Skipped ones may be missing, as events leave them out; scores may not.
    """
    outcomes: list[Outcome] = [Score(value=1.0), Skipped(reason=SkipReason.UNDEFINED), Failed(error_type=FailReason.CANNOT_TELL)]
    results = [Result(id=f"id-{n}", metric=f"metric_{n}", metric_version="1", outcome=o) for n, o in enumerate(outcomes)]
    for conversation in sample_conversations().values():
        await sink.write(Report(conversation=conversation, results=tuple(results)))
    found = list(written())
    return [f"the result {r.id!r} did not arrive" for r in results if isinstance(r.outcome, Score) and r.id not in found]
