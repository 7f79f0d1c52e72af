"""A cheap judge first, a strong one where the cheap one is not sure, fails, or says that something is wrong and a reason is wanted.

A share of what the cheap judge decided goes to the strong one all the same, as an audit; which ones is decided by a hash of the question.
"""

from dataclasses import dataclass, field, replace

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply, question_key, use_sum
from otel_eval.judges.panel import deciding_words, decision
from otel_eval.judges.wrap import use_of

ACCEPT, AUDIT = 0.9, 0.05
_AUDIT_STEPS = 10_000


_NOTHING_WRONG = frozenset({"yes", "reached", "no_request", "dropped", "answered", "1", "True"})


@dataclass(slots=True, kw_only=True)
class CascadeJudge:
    """Accepts the first judge's answer when its confidence is at least `accept`; where it states none, when it calls itself clear."""

    first: Judge
    second: Judge
    accept: float = ACCEPT
    audit: float = AUDIT
    """Share of accepted answers that the second judge sees too."""
    audited: int = 0
    audit_differs: int = 0
    """How often the second judge decided otherwise: the error of the first stage."""
    escalated: dict[str, int] = field(default_factory=dict)
    """Questions that went to the second judge, by why."""

    async def ask(self, question: Question) -> Reply:
        try:
            reply = await self.first.ask(question)
        except JudgeError as error:
            return await self._second(question, None, error, why=error.reason)
        if not self._is_sure(reply):
            return await self._second(question, reply, None, why="not_sure")
        if self._wants_a_reason(question, reply):
            return await self._second(question, reply, None, why="reason")
        if self._is_audited(question):
            return await self._audit(question, reply)
        return replace(reply, notes={**reply.notes, "stage": 1})

    def _is_sure(self, reply: Reply) -> bool:
        if reply.confidence is not None:
            return max(reply.confidence, 1 - reply.confidence) >= self.accept
        return reply.answer.get("certainty") == "clear"

    def _wants_a_reason(self, question: Question, reply: Reply) -> bool:
        """Whether something is wrong and the first judge cannot say why."""
        return bool(reply.notes.get("without_reasons")) and not _NOTHING_WRONG.issuperset(deciding_words(question.form, reply.answer))

    def _is_audited(self, question: Question) -> bool:
        return int(question_key(question)[:8], 16) % _AUDIT_STEPS < self.audit * _AUDIT_STEPS

    async def _second(self, question: Question, first: Reply | None, error: JudgeError | None, *, why: str) -> Reply:
        self.escalated[why] = self.escalated.get(why, 0) + 1
        spent = first.use if first else use_of(error) if error else None
        try:
            reply = await self.second.ask(question)
        except JudgeError as failed:
            own = use_of(failed)
            use = use_sum(spent, own) if own else spent
            raise JudgeError(
                failed.reason, str(failed), retry_after_s=failed.retry_after_s, use=use, limit_tokens=failed.limit_tokens
            ) from None
        return replace(reply, use=use_sum(spent, reply.use), notes={**reply.notes, "stage": 2})

    async def _audit(self, question: Question, first: Reply) -> Reply:
        """The second judge's answer if it comes, the first's if not."""
        try:
            reply = await self._second(question, first, None, why="audit")
        except JudgeError as error:
            return replace(first, use=use_of(error) or first.use, notes={**first.notes, "stage": 1})
        self.audited += 1
        self.audit_differs += decision(question.form, reply.answer) != decision(question.form, first.answer)
        return reply
