"""Topic adherence by rules: a request belongs to the domain when it shares words with a topic or with what was done for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.judges.heuristic.passage import is_smalltalk, text_of
from otel_eval.judges.heuristic.phrases import Phrases
from otel_eval.judges.heuristic.signs import tokens_of
from otel_eval.model import Conversation

_STEM = 5
_TOPIC_CHARS = 60


def topic_table(conversation: Conversation, phrases: Phrases, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """One row a user message. In the domain by shared words; outside it where the agent says that it only helps with other things."""
    requests: Mapping[str, int] = inputs["requests"]
    ends = [*list(requests.values())[1:], len(conversation.messages)]
    rows: list[dict[str, Any]] = []
    for (name, index), end in zip(requests.items(), ends, strict=True):
        rows.append(_row(conversation, phrases, name, range(index, end), inputs["topics"], rows))
    return {"requests": rows, "certainty": "leaning"}


def _row(
    conversation: Conversation, phrases: Phrases, name: str, span: range, topics: Mapping[str, str], before: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    text = text_of(conversation.messages[span.start])
    said = [i for i in span if conversation.messages[i].role == "assistant" and conversation.messages[i].text]
    handling = _handling(conversation, phrases, said)
    domain, in_domain = _domain(conversation, span, topics), "yes"
    if is_smalltalk(text, phrases):
        domain, in_domain = "", "no_request"
    elif not domain:
        in_domain = "no" if handling == "refused" else "cannot_tell"
    return {
        "request": name,
        "topic": " ".join(text.split())[:_TOPIC_CHARS],
        "reason": _REASONS[in_domain],
        "evidence": [span.start, *said[-1:]],
        "in_domain": in_domain,
        "domain": domain,
        "handling": handling,
    }


_REASONS = {
    "yes": "By rules: the request, or what was done for it, shares words with a topic.",
    "no": "By rules: no word in common with a topic, and the agent declined.",
    "no_request": "By rules: greetings, thanks or assent only.",
    "cannot_tell": "By rules: no word in common with a topic; that decides nothing.",
}


def _handling(conversation: Conversation, phrases: Phrases, said: Sequence[int]) -> str:
    if not said:
        return "not_addressed"
    return "refused" if phrases.refusal.search(text_of(conversation.messages[said[-1]])) else "answered"


def _domain(conversation: Conversation, span: range, topics: Mapping[str, str]) -> str:
    """Id of the topic that shares most word stems with the request and the names and arguments of its calls; "" where none does."""
    calls = [c for i in span for c in conversation.messages[i].tool_calls]
    about = _stems(" ".join([text_of(conversation.messages[span.start]), *(f"{c.name} {c.arguments}" for c in calls)]))
    shared = {name: len(about & _stems(topic)) for name, topic in topics.items()}
    best = max(shared, key=lambda name: shared[name], default="")
    return best if best and shared[best] else ""


def _stems(text: str) -> set[str]:
    return {token[:_STEM] for token in tokens_of(text)}
