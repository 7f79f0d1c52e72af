"""One second chance for a bad reply: the same question with one sentence more, or with more room to answer.

The bad reply itself is not sent back: it may quote the conversation, and what a judge has once said it likes to say again.
"""

from dataclasses import dataclass, replace

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply
from otel_eval.judges.wrap import error_with, reply_with, use_of

REPAIRED = frozenset({"reply_empty", "reply_unparsable", "reply_conflict", "reply_schema", "reply_incomplete"})
_CUT = "judge_truncated"
_ROOM_TO_THINK_TOKENS = 4096  # reasoning models spend the cap on thinking first


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairJudge:
    """A judge that is asked once more after a reply that could not be used."""

    judge: Judge

    async def ask(self, question: Question) -> Reply:
        try:
            return await self.judge.ask(question)
        except JudgeError as error:
            again = _second_question(question, error)
            if again is None:
                raise
            spent = use_of(error)
        try:
            return reply_with(await self.judge.ask(again), spent)
        except JudgeError as error:
            raise error_with(error, spent) from None


def _second_question(question: Question, error: JudgeError) -> Question | None:
    if error.reason in REPAIRED:
        return replace(question, repair=error.reason)
    if error.reason == _CUT:
        return replace(question, output_tokens=max(_ROOM_TO_THINK_TOKENS, 2 * question.output_tokens))
    return None
