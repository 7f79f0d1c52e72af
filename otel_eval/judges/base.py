"""The seam of the judge: one question in, one reply out.

A metric makes a `Question` and calls `Judge.ask`. Everything that makes judging safe and affordable (cache, breaker, retry, budget, panel)
is a judge that holds a judge, so a metric never sees it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Protocol, runtime_checkable

from otel_eval.errors import JudgeError
from otel_eval.judges.check import answer_from_value
from otel_eval.judges.form import (
    CERTAINTY,
    REASON,
    VERDICT,
    Blocks,
    Flag,
    Flags,
    Form,
    Items,
    Known,
    Sentence,
    Sentences,
    Words,
    schema_from_form,
    verdict_first,
)
from otel_eval.model import Conversation, JudgeUse

__all__ = [
    "CERTAINTY",
    "REASON",
    "VERDICT",
    "Blocks",
    "Flag",
    "Flags",
    "Form",
    "Items",
    "Judge",
    "JudgeError",
    "Known",
    "Question",
    "Reply",
    "Sentence",
    "Sentences",
    "Wording",
    "Words",
    "answer_from_value",
    "estimated_tokens",
    "question_key",
    "small_question",
    "use_sum",
    "verdict_first",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words of a question for another kind of model. Preamble, record and fields stay: the reply means the same."""

    form: Form
    ask: str
    prompt: str
    prompt_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about one conversation.

    The prompt is `preamble` (system; the same bytes for every metric and conversation), then `record` (the conversation as rendered), then
    `ask`: several questions on one conversation share all but the end, which is what prefix caches need.
    """

    name: str
    """The kind of question: `goal_accuracy`, `topic_adherence`, `yes_no`, `infer_goal`, … Doubles and rules go by it."""
    form: Form
    preamble: str = ""
    record: str = ""
    ask: str = ""
    nonce: str = ""
    """The fence of `record`; left out of cache keys, so that a re-rendered equal conversation is the same question."""
    prompt: str = ""
    """Name and version of the prompt file, `goal_accuracy.v1`."""
    prompt_hash: str = ""
    small: Wording | None = None
    """The words for models of a few billion parameters: the verdict before the reason. None: they get the same as all."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What the prompt was filled with, by name: material for judges that do not read prompts."""
    conversation: Conversation | None = None
    """The same conversation, structured: for judges that follow rules."""
    group: str = ""
    """The same for all questions on one revision of one conversation: what they share can be cached by the endpoint."""
    left_out_tokens: int = 0
    """Estimated tokens that were elided from the record; 0 where it is whole."""
    output_tokens: int = 1024
    """Cap of the reply."""
    deadline: float | None = None
    """Moment on the clock of `time.monotonic` after which no answer is wanted."""
    repair: str | None = None
    """Reason why the last reply was not used; then one sentence is added to the prompt."""
    sample: int = 0
    """Which of several independent samples this is; part of the cache key."""

    @property
    def text(self) -> str:
        """The user's part of the prompt."""
        return f"{self.record}\n\n{self.ask}" if self.record else self.ask

    @property
    def estimated_tokens(self) -> int:
        """Estimated tokens of the whole prompt."""
        return estimated_tokens(self.preamble) + estimated_tokens(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A judge's answer, checked against the form of the question."""

    answer: Mapping[str, Any]
    use: JudgeUse
    confidence: float | None = None
    """Probability of the answer in [0, 1], None where the judge gave none."""
    confidence_source: str | None = None
    """`decision`, `logprobs`, `samples`: how the confidence was come by; uncalibrated unless a label set says otherwise."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """What was dropped from the reply, counted: `evidence_dropped`, `extra_keys`, `ids_dropped`."""


@runtime_checkable
class Judge(Protocol):
    """Answers questions. Raises `errors.JudgeError` with a closed reason; never answers with a guess."""

    async def ask(self, question: Question) -> Reply: ...


def small_question(question: Question) -> Question:
    """The question as a small model should be asked it; the same question where it has no words of its own."""
    words = question.small
    if words is None:
        return question
    return replace(
        question,
        form=words.form,
        ask=words.ask,
        prompt=words.prompt,
        prompt_hash=words.prompt_hash,
        small=None,
    )


def use_sum(first: JudgeUse | None, second: JudgeUse) -> JudgeUse:
    """The use of two calls for one question: who answered last, and what both took."""
    if first is None:
        return second
    return replace(
        second,
        calls=first.calls + second.calls,
        input_tokens=_sum(first.input_tokens, second.input_tokens),
        output_tokens=_sum(first.output_tokens, second.output_tokens),
        cost_usd=_sum(first.cost_usd, second.cost_usd),
    )


def _sum(first: Any, second: Any) -> Any:
    return second if first is None else first if second is None else first + second


def estimated_tokens(text: str) -> int:
    """A cautious guess of a text's tokens in any language: UTF-8 bytes / 3, rounded up.

    Measured with a Qwen2.5 tokenizer: English transcripts 2.9 to 3.1 bytes a token, Korean 3.1 to 3.2, Hindi 2.8, logs 2.0.
    """
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // 3)


def question_key(question: Question) -> str:
    """The same for questions that must have the same answer, whatever their nonce and deadline."""
    record = question.record.replace(question.nonce, "#") if question.nonce else question.record
    ask = question.ask.replace(question.nonce, "#") if question.nonce else question.ask
    schema = json.dumps(schema_from_form(question.form), sort_keys=True)
    small = question.small.prompt_hash if question.small else ""
    rest = (str(question.output_tokens), str(question.repair), str(question.sample))
    parts = (question.name, question.preamble, record, ask, schema, small, *rest)
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
