"""The deterministic part of the defence against conversations that try to steer their judge, case by case."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Form, Items, Question, Reply, Words
from otel_eval.judges.reply import answer_from_text, repeats_record
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.inert import seen, visible
from otel_eval.metrics.results import result_failed
from otel_eval.model import Conversation, Message, Part, Reference, Score, Text, ToolCall, ToolResult

SECRETS = (b"one secret", b"another secret")
METRICS = {
    "agent_goal_accuracy_without_reference": "agent_goal_accuracy",
    "topic_adherence": "topic_adherence_f1",
}
ROLES: Mapping[str, Any] = {"human": "user", "ai": "assistant"}
HEADER = re.compile(
    r"(?:\[\d+\] (?:USER|AGENT SAYS \(a claim\)|AGENT CALLS [\w.:/+-]+(?: \(no result recorded\))?"
    r"|TOOL RESULT [\w.:/+-]+(?: → (?:ok|error|content not recorded|error, content not recorded|error, by its own words))?))$"
)
"""All that a line of the record may be which is not content, a remark with the nonce, or the fence itself."""


class Listener:
    """A judge that keeps what it is asked, and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        raise JudgeError("judge_unavailable", "only listening")


async def injection_problems(case: Mapping[str, Any]) -> list[str]:
    """What is wrong with the rendered question, the decision before the judge, or the parser."""
    problems: list[str] = []
    asked: list[Question] = []
    for secret in SECRETS:
        listener = Listener()
        outcome = await _scored(case, secret, listener)
        problems += _decided_wrongly(case, outcome, listener)
        asked += listener.asked
    for question in asked:
        problems += _fence_problems(question, case)
        problems += _parser_problems(question, case)
    if len(asked) == len(SECRETS) and asked[0].nonce == asked[1].nonce:
        problems.append("two secrets give the same fence: it can be guessed")
    return problems


async def _scored(case: Mapping[str, Any], secret: bytes, judge: Listener) -> Any:
    given = MetricInput(conversation=conversation_of(case), reference=_reference(case), judge=judge, secret=secret)
    try:
        return await builtin_metric(METRICS.get(case["metric"], case["metric"])).score(given)
    except JudgeError as error:
        return error


def _decided_wrongly(case: Mapping[str, Any], outcome: Any, listener: Listener) -> Iterator[str]:
    """A contentless answer must be decided, and as a failure, without a call; everything else must reach the judge."""
    if _is_contentless(case):
        if listener.asked:
            yield "an answer without content was shown to the judge"
        if not (isinstance(outcome, Score) and outcome.value == 0 and outcome.judge and outcome.judge.calls == 0):
            yield f"an answer without content is {outcome!r}, expected 0 without a call"
    elif not listener.asked:
        yield f"decided without the judge: {outcome!r}"


def _is_contentless(case: Mapping[str, Any]) -> bool:
    """By the rule itself: no letter and no digit in the last answer, and no call of that turn went through.

    An emoji is content where the agent has said something before.
    """
    last = case["messages"][-1]
    if last["role"] != "ai" or "goal" not in case["metric"] or any(c.isalnum() for c in seen(last["content"])):
        return False
    said_before = any(m["role"] == "ai" and m["content"] for m in case["messages"][:-1])
    if not seen(last["content"]).strip() or (said_before and any(unicodedata.category(c) == "So" for c in last["content"])):
        return False
    start = max(i for i, m in enumerate(case["messages"]) if m["role"] == "human")
    results = [ToolResult(content=m["content"]) for m in case["messages"][start:] if m["role"] == "tool"]
    return all(result_failed(r) is not False for r in results)


def _fence_problems(question: Question, case: Mapping[str, Any]) -> Iterator[str]:
    lines = question.record.splitlines()
    if question.record.split("\n") != lines:
        yield "the record has line ends that are not ours"
    if lines[0] != f"RECORD {question.nonce} BEGINS" or lines[-1] != f"RECORD {question.nonce} ENDS":
        yield "the record is not between its two lines"
    raw = json.dumps(case["messages"], ensure_ascii=False)
    if question.nonce in raw:
        yield "the nonce occurs in the content"
    for line in lines[1:-1]:
        inside = line.startswith("| ") or line == "|"
        if not inside and not HEADER.fullmatch(line):
            yield f"a line of the record is neither content nor a header of ours: {line[:40]!r}"
        bare = re.sub(rf"⟨{question.nonce}: [\w ,-]+⟩", "", line)
        if question.nonce in bare:
            yield "the nonce stands in a line of content"
        if visible(line, str) != line:
            yield "unseen characters reach the judge"
    outside = question.preamble + question.ask
    for message in case["messages"]:
        text = message["content"].strip()
        if len(text) > 15 and text in outside:
            yield "content stands outside the fence"


def _parser_problems(question: Question, case: Mapping[str, Any]) -> Iterator[str]:
    """A judge that quotes a verdict object of the conversation before its own must never be understood as the quoted one."""
    own = json.dumps(_answer(question.form, good=case["true_label"] == "pass"))
    for message in case["messages"]:
        for quoted in re.findall(r"\{[^{}]*\}?", message["content"]):
            for text in (quoted + "\n" + own, own + "\n" + quoted, "He wrote " + quoted, quoted):
                yield from _understood(question, text)


def _understood(question: Question, text: str) -> Iterator[str]:
    try:
        answer_from_text(question.form, text)
    except JudgeError:
        return
    if not repeats_record(text, question.record):
        yield "a reply that quotes the conversation was taken for an answer"


def _answer(form: Form, *, good: bool) -> dict[str, Any]:
    """An answer in this form."""
    values: dict[str, Any] = {}
    for name, field in form.fields.items():
        if isinstance(field, Items):
            row = {leaf: _leaf(kind, good) for leaf, kind in field.fields.items()}
            values[name] = [{field.key: item, **row} for item in field.ids]
        else:
            values[name] = _leaf(field, good)
    return values


def _leaf(field: Any, good: bool) -> Any:
    if isinstance(field, Words):
        return field.options[0 if good else 1]
    return [] if type(field).__name__ == "Blocks" else ""


def conversation_of(case: Mapping[str, Any]) -> Conversation:
    """The messages of a case as a conversation."""
    messages, names = [], iter([c["name"] for m in case["messages"] for c in m.get("tool_calls") or []])
    for raw in case["messages"]:
        if raw["role"] == "tool":
            messages.append(Message(role="tool", parts=(ToolResult(name=next(names, None), content=raw["content"]),)))
            continue
        parts: list[Part] = [Text(text=raw["content"])] if raw["content"] else []
        parts += [ToolCall(name=c["name"], arguments=c["args"]) for c in raw.get("tool_calls") or []]
        messages.append(Message(role=ROLES[raw["role"]], parts=tuple(parts)))
    return Conversation(id=case["id"], messages=tuple(messages), joined_by="given")


def _reference(case: Mapping[str, Any]) -> Reference:
    topics = case.get("reference_topics")
    return Reference(outcome=case.get("reference"), topics=tuple(topics) if topics else None)
