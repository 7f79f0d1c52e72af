"""`check.NAME`: one yes/no question on the agent's answer alone.

**Source**: the method of MultiChallenge (ekwinox117/multi-challenge 5ccefcca): an instance-level question that needs no conversation to
answer, put to the judge with the final answer only. Ours adds conditions, categories, evidence and `cannot_tell`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Form, Question
from otel_eval.metrics.base import MetricCard, MetricInput, Parameter
from otel_eval.metrics.blocks import Block, BlockKind
from otel_eval.metrics.judging import contentless, joined_reasons, not_judged, question_from, subject
from otel_eval.metrics.transcript import Record, record_from_blocks
from otel_eval.model import Conversation, Failed, FailReason, Outcome, Score, Skipped, SkipReason

QUESTION = Parameter(name="question", kind="text", sentence="The yes/no question; every condition for yes must stand in it.")
EXPECT = Parameter(name="expect", kind="text", default="yes", choices=("yes", "no"), sentence="The answer that passes.")
WHEN = Parameter(
    name="when",
    kind="mapping",
    default={},
    sentence="Conditions: `agent` (a name), `tool_called` (a name), `user_says` (words), `attribute` (name to value); all must hold.",
)
CATEGORY = Parameter(name="category", kind="text", sentence="Group under which pass rates are reported.")


def check_card(name: str) -> MetricCard:
    """The card of `check.NAME`; of the kind itself where the name is empty."""
    return MetricCard(
        name=f"check.{name}" if name else "check",
        sentence="1 when the agent's answer passes a named yes/no question, else 0.",
        source="MultiChallenge, instance-level questions; conditions, categories and abstention are ours",
        example="'Does the answer name the refund period?' on 'You get it back within 14 days.': 1",
        labels=("pass", "fail"),
        prompts=("preamble.v1", "yes_no.v1", "yes_no_small.v1"),
        needs=frozenset({"judge", "question"}),
        deterministic=False,
        parameters=(QUESTION, EXPECT, WHEN, CATEGORY),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The judge reads the last answer and the question, nothing else. Answer as expected: 1.0; the other one: 0.0."""

    name: str = ""

    @property
    def card(self) -> MetricCard:
        return check_card(self.name)

    async def score(self, given: MetricInput) -> Outcome:
        conversation = subject(given)
        decided = not_judged(self.card, given, conversation) or _unmet(given.value(self.card, WHEN.name), conversation)
        if decided:
            return decided
        answer = _answer(conversation)
        if answer is None:
            return Skipped(reason=SkipReason.NOTHING_TO_JUDGE, detail="the agent gave no answer in words")
        return contentless(conversation) or await self._judged(given, conversation, answer)

    async def _judged(self, given: MetricInput, conversation: Conversation, answer: Block) -> Outcome:
        record = record_from_blocks([answer], conversation=conversation, secret=given.secret, revision=given.revision)
        if record.tokens > given.record_tokens:
            return Failed(error_type=FailReason.CONVERSATION_TOO_LONG, detail="the answer alone is longer than `record_tokens`")
        if given.judge is None:
            return Failed(error_type=FailReason.METRIC_ERROR, detail="a judged metric needs a judge")
        reply = await given.judge.ask(_question(given, conversation, record))
        verdict, reason = reply.answer["verdict"], joined_reasons([reply.answer["reason"]])
        if verdict == "cannot_tell":
            return Failed(error_type=FailReason.CANNOT_TELL, detail=reason or "the answer does not decide the question", judge=reply.use)
        passed = verdict == given.value(self.card, EXPECT.name)
        return Score(
            value=float(passed),
            label="pass" if passed else "fail",
            explanation=reason,
            evidence=(answer.index,),
            details=_details(given.value(self.card, CATEGORY.name), verdict, dict(reply.notes), reply.confidence),
            judge=reply.use,
        )


def _details(category: str | None, verdict: str, notes: dict[str, Any], confidence: float | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"verdict": verdict, **notes}
    shown |= {"category": category} if category else {}
    return shown | ({"confidence": confidence} if confidence is not None else {})


def _answer(conversation: Conversation) -> Block | None:
    for index in reversed(range(len(conversation.messages))):
        message = conversation.messages[index]
        if message.role == "assistant" and message.text:
            return Block(kind=BlockKind.SAYS, header=f"[{index}] AGENT SAYS (a claim)", text=message.text, index=index)
    return None


def _question(given: MetricInput, conversation: Conversation, record: Record) -> Question:
    fields: dict[str, Any] = {
        "reason": REASON,
        "evidence": Blocks(count=len(conversation.messages)),
        "certainty": CERTAINTY,
        "verdict": VERDICT,
    }
    question = str(given.parameters["question"])
    return question_from(
        given,
        conversation,
        record,
        name="yes_no",
        prompt_name="yes_no.v1",
        small="yes_no_small.v1",
        form=Form(name="yes_no", fields=fields),
        places={"question": question},
        inputs={"question": question},
        output_tokens=512,
    )


def _unmet(when: Mapping[str, Any], conversation: Conversation) -> Outcome | None:
    """The outcome where a condition does not hold, or is not known."""
    for name, wanted in when.items():
        if name not in _CONDITIONS:
            known = ", ".join(map(repr, _CONDITIONS))
            return Failed(error_type=FailReason.METRIC_ERROR, detail=f"`when` has no condition {name!r}; it has {known}")
        if not _CONDITIONS[name](conversation, wanted):
            return Skipped(reason=SkipReason.NEEDS_MISSING, detail=f"the condition {name!r} of `when` does not hold")
    return None


def _has_attributes(conversation: Conversation, wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and all(conversation.attributes.get(k) == v for k, v in wanted.items())


def _user_says(conversation: Conversation, wanted: Any) -> bool:
    words = str(wanted).casefold()
    return any(words in (m.text or "").casefold() for m in conversation.messages if m.role == "user")


_CONDITIONS: Mapping[str, Callable[[Conversation, Any], bool]] = {
    "agent": lambda c, wanted: wanted == c.agent or wanted in c.agents,
    "tool_called": lambda c, wanted: any(call.name == wanted for call in c.tool_calls),
    "user_says": _user_says,
    "attribute": _has_attributes,
}
