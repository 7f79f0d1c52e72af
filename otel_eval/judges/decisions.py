"""Typed decisions with probabilities: endpoints that answer many questions on one text in one call, without reasons.

**Source**: OpenAI `/v1/decisions` (SDK 3.57: predicate, choice; answers in order, each may be a refusal) and `/v1/systemone` (TypeSafe,
llama.cpp, Ollama, OpenRouter: `state`, questions and answers by name). Made for the first stage of a cascade: cheap, with a confidence,
and no evidence, so what it finds wrong goes on to a judge that can say why.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from otel_eval.errors import JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.check import answer_from_value
from otel_eval.judges.form import Blocks, Flag, Form, Items, Known, Sentence, Words
from otel_eval.judges.openai import Endpoint, Refused
from otel_eval.judges.settings import JudgeSettings
from otel_eval.model import JudgeUse

Wire: TypeAlias = Literal["decisions", "systemone"]

_MOST_QUESTIONS = 400
_SURE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One word to decide on: which entry it belongs to (None: the reply itself), which field, and the words."""

    item: str | None
    field: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.item}_{self.field}" if self.item else self.field

    @property
    def instructions(self) -> str:
        about = f"For the entry {self.item!r} of the question at the end" if self.item else "For the question at the end"
        return f"{about}: which word is right for {self.field!r}?"


class DecisionsJudge:
    """Asks for all deciding words of a form at once; free text it cannot give. `settings.model` names the decision model."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._wire: Wire = settings.wire
        self._endpoint = Endpoint(settings)

    async def close(self) -> None:
        await self._endpoint.close()

    async def ask(self, question: Question) -> Reply:
        decisions = list(decisions_from_form(question.form))
        if not decisions or len(decisions) > _MOST_QUESTIONS:
            raise JudgeError("cannot_tell", f"a decision endpoint cannot answer questions of the form {question.form.name!r}")
        build, read = _WIRES[self._wire]
        try:
            body = await self._endpoint.post(question, f"/{self._wire}", build(self._settings.model, question, decisions))
        except Refused as refused:
            raise refused.error(self._use(question, {})) from None
        use = self._use(question, body)
        try:
            found = [_checked(d, answer) for d, answer in zip(decisions, read(body, decisions), strict=True)]
            answer = answer_from_decisions(
                question.form, {d: word for d, (word, _) in zip(decisions, found, strict=True)}, _certainty(found)
            )
        except JudgeError as error:
            raise JudgeError(error.reason, str(error), use=use) from None
        confidence = min(probability for _, probability in found)
        return Reply(answer=answer, use=use, confidence=confidence, confidence_source="decision", notes={"without_reasons": 1})

    def _use(self, question: Question, body: Any) -> JudgeUse:
        input_tokens, output_tokens = _usage(body, "input_tokens"), _usage(body, "output_tokens")
        price, cost = self._settings.price, None
        if price is not None and input_tokens is not None:
            cost = price.cost_usd(input_tokens, output_tokens or 0)
        served = body.get("model") if isinstance(body, Mapping) else None
        return JudgeUse(
            kind="model",
            model=served if isinstance(served, str) and served else self._settings.model,
            prompt=question.prompt,
            prompt_hash=question.prompt_hash,
            calls=1,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_usd=cost,
        )


def _usage(body: Any, name: str) -> int | None:
    usage = body.get("usage") if isinstance(body, Mapping) else None
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def decisions_from_form(form: Form) -> Iterator[Decision]:
    """Every deciding word of a form; nothing where the form asks for words of the judge's own that decide something."""
    fields = form.fields
    if any(not isinstance(f, Words | Flag | Items | Sentence | Blocks) for f in fields.values()):
        return
    if not any(isinstance(f, Words | Flag | Items) and not (isinstance(f, Words) and f.optional) for f in fields.values()):
        return
    for name, field in fields.items():
        if isinstance(field, Items):
            for item in field.ids:
                yield from (Decision(item=item, field=n, options=_options(leaf)) for n, leaf in field.fields.items() if _options(leaf))
        elif _options(field):
            yield Decision(item=None, field=name, options=_options(field))


def _options(field: Any) -> tuple[str, ...]:
    if isinstance(field, Words):
        return () if field.optional else field.options
    if isinstance(field, Known):
        return ("", *field.options)
    return ("true", "false") if isinstance(field, Flag) else ()


def answer_from_decisions(form: Form, words: Mapping[Decision, str], certainty: str) -> dict[str, Any]:
    """The reply object with these words, and empty where words of the judge's own would stand."""
    chosen = {(d.item, d.field): word for d, word in words.items()}
    value: dict[str, Any] = {}
    for name, field in form.fields.items():
        if isinstance(field, Items):
            value[name] = [
                {field.key: item, **{n: _value(leaf, chosen.get((item, n)), certainty) for n, leaf in field.fields.items()}}
                for item in field.ids
            ]
        else:
            value[name] = _value(field, chosen.get((None, name)), certainty)
    return answer_from_value(form, value)[0]


def _value(field: Any, word: str | None, certainty: str) -> Any:
    if isinstance(field, Flag):
        return word == "true"
    if isinstance(field, Words) and field.optional:
        return certainty if certainty in field.options else field.options[-1]
    if isinstance(field, Blocks):
        return []
    return word or ""


def _certainty(found: Sequence[tuple[str, float]]) -> str:
    return "clear" if min(probability for _, probability in found) >= _SURE else "leaning"


def _checked(decision: Decision, probabilities: Mapping[str, float]) -> tuple[str, float]:
    """The likeliest word and its probability."""
    known = {word: p for word, p in probabilities.items() if word in decision.options}
    if not known:
        raise JudgeError("reply_schema", f"the answer to {decision.name!r} has none of the words that were given")
    word = max(known, key=lambda w: known[w])
    return word, known[word]


_NONE = "none"
"""Stands for "" on the wire: an empty choice is refused."""


def _shown(option: str) -> str:
    return option or _NONE


def _openai_body(model: str, question: Question, decisions: Sequence[Decision]) -> dict[str, Any]:
    return {
        "model": model,
        "input": f"{question.preamble}\n\n{question.text}",
        "questions": [
            {"type": "choice", "name": d.name, "instructions": d.instructions, "choices": [{"value": _shown(o)} for o in d.options]}
            for d in decisions
        ],
    }


def _openai_answers(body: Any, decisions: Sequence[Decision]) -> list[dict[str, float]]:
    answers = body.get("answers") if isinstance(body, Mapping) else None
    if not isinstance(answers, list):
        raise JudgeError(faults.UNAVAILABLE, "the decision endpoint answered 200 without answers")
    if len(answers) != len(decisions):
        raise JudgeError("reply_incomplete", f"{len(decisions)} decisions were asked for, {len(answers)} came back")
    return [_openai_probabilities(a) for a in answers]


def _openai_probabilities(answer: Any) -> dict[str, float]:
    if not isinstance(answer, Mapping) or answer.get("type") == "refusal":
        raise JudgeError("judge_refused", "the judge refused to decide on this conversation")
    rows = answer.get("probabilities")
    if not isinstance(rows, list):
        return {}
    return {_word(r.get("value")): float(r["probability"]) for r in rows if isinstance(r, Mapping) and _is_number(r.get("probability"))}


def _systemone_body(model: str, question: Question, decisions: Sequence[Decision]) -> dict[str, Any]:
    return {
        "model": model,
        "state": f"{question.preamble}\n\n{question.text}",
        "questions": {
            d.name: {"type": "choice", "instructions": d.instructions, "criteria": {_shown(o): None for o in d.options}} for d in decisions
        },
    }


def _systemone_answers(body: Any, decisions: Sequence[Decision]) -> list[dict[str, float]]:
    answers = body.get("answers") if isinstance(body, Mapping) else None
    if not isinstance(answers, Mapping):
        raise JudgeError(faults.UNAVAILABLE, "the decision endpoint answered 200 without answers")
    missing = [d.name for d in decisions if d.name not in answers]
    if missing:
        raise JudgeError("reply_incomplete", f"{len(missing)} of {len(decisions)} decisions are missing")
    return [_systemone_probabilities(answers[d.name]) for d in decisions]


def _systemone_probabilities(answer: Any) -> dict[str, float]:
    if not isinstance(answer, Mapping) or answer.get("type") == "refusal":
        raise JudgeError("judge_refused", "the judge refused to decide on this conversation")
    rows = answer.get("probabilities")
    return {_word(word): float(p) for word, p in rows.items() if _is_number(p)} if isinstance(rows, Mapping) else {}


def _word(value: Any) -> str:
    return "" if value == _NONE else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_WIRES: Mapping[Wire, tuple[Any, Any]] = {
    "decisions": (_openai_body, _openai_answers),
    "systemone": (_systemone_body, _systemone_answers),
}
