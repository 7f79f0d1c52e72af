"""From signs to answers on goals: the table of requests, and the comparison of the stepwise strategy."""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.judges.heuristic.passage import Passage, is_smalltalk, passages_from_conversation, text_of
from otel_eval.judges.heuristic.phrases import Phrases
from otel_eval.judges.heuristic.signs import Scene, Sign, signs_from_scene, tokens_of
from otel_eval.model import Conversation

_CLEAR_WEIGHT = 4
_SPOILS_A_REFUSAL = frozenset({"changed_and_handed_over", "open_failure", "unsettled", "bare_claim"})
_GOAL_CHARS = 160


def goal_table(conversation: Conversation, phrases: Phrases, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """One row a user message: the ones that open a matter get its status, the others belong to them."""
    passages = {p.request: p for p in passages_from_conversation(conversation, phrases, inputs["failed"])}
    requests: Mapping[str, int] = inputs["requests"]
    names = {index: name for name, index in requests.items()}
    rows, root, weights = [], "", [0]
    for name, index in requests.items():
        passage = passages.get(index)
        if passage:
            root = name
            status, signs = _status(conversation, phrases, passage)
            weights.append(_weight(signs))
            rows.append(_row(name, status, signs, goal=text_of(conversation.messages[index])))
        else:
            small = is_smalltalk(text_of(conversation.messages[index]), phrases)
            rows.append(_row(name, "no_request" if small or not root else "reached", [], same_as="" if small else root))
    assert len(names) == len(rows)
    return {"requests": rows, "certainty": _certainty(weights)}


def _row(name: str, status: str, signs: Sequence[Sign], *, goal: str = "", same_as: str = "") -> dict[str, Any]:
    return {
        "request": name,
        "same_as": same_as,
        "goal": " ".join(goal.split())[:_GOAL_CHARS],
        "reason": reason_of(signs),
        "evidence": sorted({i for s in signs for i in s.evidence}),
        "status": status,
    }


def reason_of(signs: Sequence[Sign]) -> str:
    """The signs as a sentence, heaviest first."""
    said = sorted(signs, key=lambda s: -abs(s.weight))
    return ("By rules: " + "; ".join(s.sentence for s in said) + ".") if said else ""


def _weight(signs: Sequence[Sign]) -> int:
    return sum(s.weight for s in signs)


def _certainty(weights: Sequence[int]) -> str:
    return "clear" if min(abs(w) for w in weights[1:] or [0]) >= _CLEAR_WEIGHT else "leaning"


def _status(conversation: Conversation, phrases: Phrases, passage: Passage) -> tuple[str, list[Sign]]:
    signs = signs_from_scene(Scene(conversation=conversation, passage=passage, phrases=phrases))
    names = {s.name for s in signs}
    if "refused_by_rule" in names and not names & _SPOILS_A_REFUSAL:
        return "blocked", [s for s in signs if s.weight >= 0]
    weight = _weight(signs)
    return ("reached" if weight > 0 else "not_reached" if weight < 0 else "cannot_tell"), signs


def comparison(conversation: Conversation, phrases: Phrases, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the wanted outcome holds: no where a passage fails or what the outcome names was never touched, else by the signs."""
    passages = passages_from_conversation(conversation, phrases, inputs["failed"])
    judged = [_status(conversation, phrases, p) for p in passages]
    signs = [s for _, found in judged for s in found]
    statuses = [status for status, _ in judged]
    verdict = _verdict(statuses, bool(inputs.get("reference")))
    missing = _missing(conversation, inputs["desired_outcome"], inputs["failed"]) if inputs.get("reference") else set()
    if missing and verdict != "no":
        verdict = "no"
        signs = [Sign(name="not_shown", weight=-4, sentence="what the wanted outcome names by a number is in no result and no answer")]
    return {
        "reason": reason_of(signs),
        "evidence": sorted({i for s in signs for i in s.evidence}),
        "certainty": _certainty([0, _weight(signs)]),
        "verdict": verdict,
    }


def _verdict(statuses: Sequence[str], reference: bool) -> str:
    if "not_reached" in statuses:
        return "no"
    if "reached" in statuses:
        return "yes"
    return "blocked" if "blocked" in statuses and not reference else "cannot_tell"


def _missing(conversation: Conversation, outcome: str, failed: Mapping[int, bool | None]) -> set[str]:
    """Numbers of the wanted outcome that no successful result and, without tools, no answer holds."""
    wanted = {t for t in tokens_of(outcome) if any(c.isdigit() for c in t)}
    shown = [r.content or "" for i, m in enumerate(conversation.messages) if (r := m.tool_result) and not failed.get(i)]
    calls = [str(c.arguments) for c in conversation.tool_calls] if shown else []
    texts = [*shown, *calls] if failed else [m.text or "" for m in conversation.messages if m.role == "assistant"]
    return wanted - tokens_of("\n".join(texts))


def inferred_goal(conversation: Conversation, phrases: Phrases, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The first matter the user opened, and the agent's last words: what rules can say about a goal and an end state."""
    passages = passages_from_conversation(conversation, phrases, inputs.get("failed", {}))
    last = next((m for m in reversed(conversation.messages) if m.role == "assistant" and m.text), None)
    return {
        "reason": "By rules: the first request and the last answer.",
        "evidence": [p.request for p in passages],
        "certainty": "leaning",
        "user_goal": " ".join(text_of(conversation.messages[passages[0].request]).split()) if passages else "",
        "end_state": " ".join(text_of(last).split()) if last else "",
    }
