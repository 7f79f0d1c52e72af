"""A judge that answers from the `judge_script` of a ragas case."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from otel_eval.judges.base import Items, JudgeError, Question, Reply, Words
from otel_eval.model import JudgeUse

BESIDE_THE_VERDICT: Mapping[str, Any] = {"reason": "scripted", "evidence": [], "certainty": "clear"}
"""Fields that our own questions have beside those of ragas."""


class RagasScript:
    """Answers the questions of the stepwise strategies: in the form of ragas with `compat`, in ours without.

    `asked` holds the questions in order. A scripted reply that the form does not allow is refused, as every real judge refuses it.
    """

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script = script
        self._refusals = iter(script.get("refused", []))
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
        found = {name: answer[name] for name in question.form.fields if name in answer}
        _check(question, found)
        return Reply(answer=found, use=JudgeUse(kind="none"))

    def _refused(self, question: Question) -> Mapping[str, Any]:
        """By topic where it is named, for our own way counts a topic once; else in order."""
        wanted = question.inputs.get("topic")
        by_topic = {r["topic"]: r for r in reversed(self._script["refused"])}
        verdict = by_topic[wanted] if wanted in by_topic else next(self._refusals)
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


def _check(question: Question, answer: Mapping[str, Any]) -> None:
    for problem in _problems(question, answer):
        raise JudgeError("reply_schema", problem)


def _problems(question: Question, answer: Mapping[str, Any]) -> Iterator[str]:
    for name, field in question.form.fields.items():
        if isinstance(field, Words) and not field.optional and answer.get(name) not in field.options:
            yield f"{name!r} must be one of {field.options}"
        elif name not in answer and not (isinstance(field, Words) and field.optional):
            yield f"{name!r} is missing"


_ANSWERS: Mapping[str, Callable[[RagasScript, Question], Mapping[str, Any]]] = {
    "refused": RagasScript._refused,
    "classify": RagasScript._classified,
    "compare": RagasScript._compared,
}
