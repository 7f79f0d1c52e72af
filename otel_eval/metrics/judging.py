"""What all judged metrics do alike: decide what needs no judge, render the record, ask, and ask once more with less.

A `errors.JudgeError` is not caught here: `scoring` makes it the result's `Failed`.
"""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from otel_eval.judges.base import Form, Judge, JudgeError, Question, Reply, Wording, verdict_first
from otel_eval.metrics import inert
from otel_eval.metrics.base import MetricCard, MetricInput
from otel_eval.metrics.prompt import prompt, prompt_hash
from otel_eval.metrics.requirements import not_scored
from otel_eval.metrics.results import result_failed
from otel_eval.metrics.transcript import Record, record_from_conversation
from otel_eval.model import Conversation, Failed, FailReason, GapReason, JudgeUse, Outcome, Score, Skipped, SkipReason

PREAMBLE = "preamble.v1"
_TEXT_CATEGORIES = ("L", "N")
_NOT_WHOLE: Mapping[GapReason, tuple[SkipReason, str]] = {
    GapReason.TRUNCATED: (
        SkipReason.TRUNCATED,
        "content was cut on its way to us: raise the attribute length limit",
    ),
    GapReason.ATTRIBUTES_DROPPED: (SkipReason.TRUNCATED, "attributes were dropped by the SDK: raise its attribute count limit"),
    GapReason.CONTENT_NOT_CAPTURED: (
        SkipReason.CONTENT_NOT_CAPTURED,
        "content was not recorded: `otel-eval doctor` names the switch",
    ),
    GapReason.REDACTED: (SkipReason.CONTENT_NOT_CAPTURED, "message content was replaced by a placeholder before it reached us"),
    GapReason.CONTENT_EXTERNAL: (SkipReason.CONTENT_NOT_CAPTURED, "message content stands elsewhere and only its address was recorded"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reply and the record it is about."""

    reply: Reply
    record: Record | None = None

    def details(self, **more: Any) -> dict[str, Any]:
        """What belongs on every judged score beside its own details."""
        notes: dict[str, Any] = dict(self.reply.notes)
        if self.reply.confidence is not None:
            notes |= {"confidence": self.reply.confidence, "confidence_source": self.reply.confidence_source}
        if self.record and self.record.truncated:
            notes |= {
                "truncated": True,
                "elided_tokens": self.record.left_out_tokens,
                "elided_turns": self.record.left_out_turns,
                "elision_step": self.record.step,
            }
        return more | notes

    def certainty(self) -> str:
        """`clear` or `leaning`; never clear when more was left out than shown."""
        if self.record and self.record.mostly_left_out:
            return "leaning"
        return str(self.reply.answer.get("certainty") or "leaning")


def subject(given: MetricInput) -> Conversation:
    """The conversation to judge: up to and including the judged turn, if one is named."""
    if given.turn is None:
        return given.conversation
    end = given.first_message + len(given.messages)
    return replace(given.conversation, messages=given.conversation.messages[:end])


def not_judged(card: MetricCard, given: MetricInput, conversation: Conversation) -> Outcome | None:
    """The outcome that needs no judge because there is nothing that a judge could read; None where it has to be asked."""
    return not_scored(card, given) or _not_whole(conversation) or _nothing_said(conversation)


def _not_whole(conversation: Conversation) -> Skipped | None:
    for gap in conversation.gaps:
        if gap.reason in _NOT_WHOLE:
            reason, detail = _NOT_WHOLE[gap.reason]
            return Skipped(reason=reason, detail=f"{detail} ({gap.where})")
    return None


def _nothing_said(conversation: Conversation) -> Skipped | None:
    asked = any(m.role == "user" and inert.seen(m.text or "").strip() for m in conversation.messages)
    acted = any(m.role == "assistant" and (inert.seen(m.text or "").strip() or m.tool_calls) for m in conversation.messages)
    if asked and acted:
        return None
    return Skipped(reason=SkipReason.NOTHING_TO_JUDGE, detail=f"there is no {'agent' if asked else 'user'} message with content")


def contentless(conversation: Conversation) -> Score | None:
    """0 for a conversation whose last word from the agent has no letter or digit and in whose last turn no call succeeded.

    Marks such as `:` or `…` make careless judges say yes; so no judge is asked. An emoji is content where the agent has said more before.
    """
    start = max((i for i, m in enumerate(conversation.messages) if m.role == "user"), default=0)
    says = [(i, m.text) for i, m in enumerate(conversation.messages) if m.role == "assistant" and m.text]
    if not says or says[-1][0] < start or not _is_contentless(says[-1][1], first=len(says) == 1):
        return None
    results = [r for m in conversation.messages[start:] if (r := m.tool_result)]
    if any(result_failed(r) is False for r in results):
        return None
    return Score(
        value=0.0,
        label="fail",
        explanation="The agent's last answer has no content: not a letter, not a digit.",
        evidence=(says[-1][0],),
        details={"reason": "contentless_answer"},
        judge=JudgeUse(kind="none"),
    )


def _is_contentless(text: str, *, first: bool) -> bool:
    kinds = {unicodedata.category(c) for c in inert.seen(text)}
    return not any(k.startswith(_TEXT_CATEGORIES) for k in kinds) and (first or "So" not in kinds)


async def asked(
    given: MetricInput, conversation: Conversation, build: Callable[[Record], Question], *, results_first: bool = False
) -> Asked | Failed:
    """The judge's reply to the question that `build` makes of the record; once more with a shorter record when its window is too small."""
    record = _record(given, conversation, given.record_tokens, results_first)
    for attempt in (1, 2):
        if record is None:
            return Failed(error_type=FailReason.CONVERSATION_TOO_LONG, detail="even the shortest form does not fit; raise `record_tokens`")
        question = build(record)
        try:
            return Asked(reply=await _judge(given).ask(question), record=record)
        except JudgeError as error:
            if attempt == 2 or error.limit_tokens is None:
                raise
            around = question.estimated_tokens + question.output_tokens - record.tokens
            record = _record(given, conversation, _within(error.limit_tokens, around, record), results_first)
    raise AssertionError("the loop returns or raises")


def _within(limit: int, around: int, record: Record) -> int:
    """Tokens left for the record in a window of `limit`; at least a tenth less than what was too much."""
    return min(limit - around, record.tokens * 9 // 10)


def _record(given: MetricInput, conversation: Conversation, tokens: int, results_first: bool) -> Record | None:
    """The record, rendered once for all metrics of a conversation; a whole one is the same whatever would have been cut first."""
    for first in (results_first, not results_first):
        of, kept = given.memo.get(("record", given.turn, tokens, first), (None, None))
        if of is given.conversation and isinstance(kept, Record) and (first == results_first or not kept.truncated):
            return kept
    made = record_from_conversation(
        conversation, secret=given.secret, revision=given.revision, budget_tokens=tokens, results_first=results_first
    )
    given.memo["record", given.turn, tokens, results_first] = (given.conversation, made)
    return made


def _judge(given: MetricInput) -> Judge:
    if given.judge is None:  # `needs` holds "judge", so `not_scored` has answered before
        raise AssertionError("a judged metric was run without a judge")
    return given.judge


def question_from(
    given: MetricInput,
    conversation: Conversation,
    record: Record,
    *,
    name: str,
    prompt_name: str,
    form: Form,
    places: Mapping[str, str],
    inputs: Mapping[str, Any],
    output_tokens: int = 1024,
    small: str | None = None,
) -> Question:
    """A question of the standard layout: preamble, record, then the prompt file filled with `places`.

    `small` is the prompt file with the words for small models; it has the same places.
    """
    return Question(
        name=name,
        form=form,
        preamble=prompt(PREAMBLE).text,
        record=record.text,
        ask=prompt(prompt_name).filled(**places),
        nonce=record.nonce,
        prompt=prompt_name,
        prompt_hash=prompt_hash(PREAMBLE, prompt_name),
        small=_small_wording(form, small, places) if small else None,
        inputs={**inputs, "failed": _failures(conversation)},
        conversation=conversation,
        group=sha256(f"{conversation.key}\n{given.revision}".encode("utf-8", "surrogatepass")).hexdigest()[:16],
        left_out_tokens=record.left_out_tokens,
        output_tokens=output_tokens,
        deadline=given.deadline,
    )


def _small_wording(form: Form, prompt_name: str, places: Mapping[str, str]) -> Wording:
    return Wording(
        form=verdict_first(form),
        ask=prompt(prompt_name).filled(**places),
        prompt=prompt_name,
        prompt_hash=prompt_hash(PREAMBLE, prompt_name),
    )


def _failures(conversation: Conversation) -> dict[int, bool | None]:
    """For each message that is a tool result, whether the call failed; None where nothing is known."""
    return {i: result_failed(r) for i, m in enumerate(conversation.messages) if (r := m.tool_result)}


def quoted(text: str, record: Record) -> str:
    """A text that we do not trust either (a reference from a span attribute), marked line by line like the record."""
    shown = inert.visible(text, lambda remark: f"⟨{record.nonce}: {remark}⟩")
    return "\n".join(f"| {line}" for line in shown.splitlines() or [""])


def requests_place(requests: Mapping[str, int]) -> str:
    """The list of user requests as it stands in the question: `r1 = 0, r2 = 6`."""
    return ", ".join(f"{name} = {index}" for name, index in requests.items())


def joined_reasons(reasons: list[str], max_chars: int = 600) -> str | None:
    """Reasons as one explanation; None where none was given."""
    text = inert.one_line(" · ".join(r for r in dict.fromkeys(reasons) if r), max_chars)
    return text or None
