"""Doubles for those who write metrics, judges and sinks: a judge that answers by script, a sink that remembers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Blocks, Form, Items, Known, Question, Reply, Sentence, Words, answer_from_value
from otel_eval.model import JudgeUse, Report

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
