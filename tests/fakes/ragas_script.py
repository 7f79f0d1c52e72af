"""Judges that answer from the `judge_script` of a ragas case."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from otel_eval.judges.base import Items, JudgeError, Question, Reply, Words, answer_from_value
from otel_eval.judges.heuristic import HeuristicJudge
from otel_eval.model import JudgeUse

BESIDE_THE_VERDICT: Mapping[str, Any] = {"reason": "scripted", "evidence": [], "certainty": "clear"}
"""Fields that our own questions have beside those of ragas."""


class RagasScript:
    """Answers the questions of the stepwise strategies: in the form of ragas with `compat`, in ours without.

    `asked` holds the questions in order. A scripted reply that the form does not allow is refused, as every real judge refuses it.
    """

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script = script
        self._refusals: Iterator[Mapping[str, Any]] = iter(script.get("refused", []))
        self.asked: list[Question] = []

    @property
    def kinds(self) -> list[str]:
        """The kinds of question asked, in the words of `judge_calls`."""
        return [question.name for question in self.asked]

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        if question.name not in self._script:
            raise JudgeError("judge_unavailable", f"the script has no reply to {question.name!r}")
        answer = _ANSWERS.get(question.name, _as_scripted)(self, question)
        checked, notes = answer_from_value(question.form, answer)
        return Reply(answer=checked, use=JudgeUse(kind="none"), notes=notes)

    def _refused(self, question: Question) -> Mapping[str, Any]:
        """In order as ragas asks; by topic in our own way, which counts a topic once."""
        if "reason" not in question.form.fields:
            return next(self._refusals)
        verdict = next(r for r in self._script["refused"] if r["topic"] == question.inputs["topic"])
        return {**BESIDE_THE_VERDICT, **verdict}

    def _classified(self, question: Question) -> Mapping[str, Any]:
        scripted = self._script["classify"]
        items = question.form.fields.get("topics")
        if not isinstance(items, Items):
            return {**scripted}
        verdicts = dict(zip(self._script["extract_topics"]["topics"], scripted["classifications"], strict=False))
        if any(topic not in verdicts for topic in question.inputs["topics"]):
            raise JudgeError("reply_incomplete", "the script classifies fewer topics than there are")
        rows = zip(items.ids, question.inputs["topics"], strict=True)
        return {**BESIDE_THE_VERDICT, "topics": [{"topic": i, "in_domain": "yes" if verdicts[topic] else "no"} for i, topic in rows]}

    def _compared(self, question: Question) -> Mapping[str, Any]:
        scripted = {**BESIDE_THE_VERDICT, **self._script["compare"]}
        ours = _options(question, "verdict") != ("0", "1")
        return {**scripted, "verdict": {"0": "no", "1": "yes"}.get(scripted["verdict"], scripted["verdict"])} if ours else scripted

    def scripted(self, question: Question) -> Mapping[str, Any]:
        return {**BESIDE_THE_VERDICT, **self._script[question.name]}


def _as_scripted(judge: RagasScript, question: Question) -> Mapping[str, Any]:
    return judge.scripted(question)


def _options(question: Question, name: str) -> tuple[str, ...]:
    field = question.form.fields.get(name)
    return field.options if isinstance(field, Words) else ()


class RulesWithScriptedTopics:
    """The judge of rules, which reads what was said for itself, with the script's word on which request is inside the topics."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._inside = script.get("classify", {}).get("classifications", [])

    async def ask(self, question: Question) -> Reply:
        reply = await HeuristicJudge().ask(question)
        if question.name != "topic_adherence":
            return reply
        rows = [
            row if inside is None else {**row, "in_domain": "yes" if inside else "no"}
            for row, inside in zip_longest(reply.answer["requests"], self._inside[: len(reply.answer["requests"])])
        ]
        return replace(reply, answer={**reply.answer, "requests": rows})


_ANSWERS: Mapping[str, Callable[[RagasScript, Question], Mapping[str, Any]]] = {
    "refused": RagasScript._refused,
    "classify": RagasScript._classified,
    "compare": RagasScript._compared,
}
