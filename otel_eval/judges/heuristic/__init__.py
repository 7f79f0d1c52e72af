"""The embedded judge: rules instead of a model. Deterministic, without network, and honest about what it cannot tell.

It reads the structured conversation, never the prompt, so no text in a conversation can speak to it. It knows seven languages and says
`cannot_tell` in any other. Its agreement with real outcomes stands on its card (`judges.BUILTIN`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Question, Reply, answer_from_value
from otel_eval.judges.heuristic.goal import comparison, goal_table, inferred_goal
from otel_eval.judges.heuristic.language import language_of
from otel_eval.judges.heuristic.phrases import LANGUAGES, Phrases, phrases_of
from otel_eval.judges.heuristic.topics import topic_table
from otel_eval.judges.settings import JudgeSettings
from otel_eval.model import Conversation, JudgeUse

VERSION = "heuristic-1"

_CANNOT_TELL = "cannot_tell"
_ANSWERS: Mapping[str, Callable[[Conversation, Phrases, Mapping[str, Any]], dict[str, Any]]] = {
    "goal_accuracy": goal_table,
    "infer_goal": inferred_goal,
    "compare": comparison,
    "topic_adherence": topic_table,
}


class HeuristicJudge:
    """Answers questions on goals and topics by rules; any other question, and any other language, with `cannot_tell`."""

    def __init__(self, settings: JudgeSettings | None = None) -> None:
        """There is nothing to set."""

    async def ask(self, question: Question) -> Reply:
        use = JudgeUse(kind="heuristic", model=VERSION, prompt=question.prompt, prompt_hash=question.prompt_hash)
        if question.name not in _ANSWERS or question.conversation is None or "failed" not in question.inputs:
            raise JudgeError(_CANNOT_TELL, f"the heuristic judge has no rules for {question.name!r}: configure a model", use=use)
        language = language_of(m.text or "" for m in question.conversation.messages if m.role != "tool")
        if language is None:
            known = ", ".join(LANGUAGES)
            raise JudgeError(_CANNOT_TELL, f"the heuristic judge knows {known}, and this is none of them: configure a model", use=use)
        answer = _ANSWERS[question.name](question.conversation, phrases_of(language), question.inputs)
        try:
            checked, notes = answer_from_value(question.form, answer)
        except JudgeError as error:
            raise JudgeError(_CANNOT_TELL, f"the heuristic judge has no rules for this form of {question.name!r}", use=use) from error
        return Reply(answer=checked, use=use, notes=notes)
