"""GitHub Copilot: Copilot Chat in VS Code (`copilot_chat.*`) and the Copilot runtime of the CLI, app and SDK (`github.copilot.*`).

Both keep to the conventions of generation C; here stands what they add. A chat span of VS Code carries the id of one request as
`gen_ai.conversation.id`, the chat's own ids beside it. What the editor puts around the user's words (context, reminders, the time) is
taken off: it is no word of the user. Titles, categories and progress lines are asked apart and belong to no talk.

**Source**: microsoft/vscode-copilot-chat (March 2026) `src/platform/otel/common/genAiAttributes.ts`, `prompts/node/agent/agentPrompt.tsx`;
GitHub Copilot CLI 1.0.102 (captured); code.visualstudio.com and docs.github.com OpenTelemetry references.
"""

import re
from dataclasses import replace

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.semconv import SEMCONV
from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import Message, StepContent, StepKind, Text

_LABEL = "copilot_chat.debug_log_label"
_ASIDES = frozenset({"title", "categorization", "promptCategorization", "progressMessages", "contextualProgressMessage"})
_REQUEST = re.compile(r".*<(userRequest|user_query)>\s*(.*?)\s*</\1>", re.DOTALL)
_TIME = re.compile(r"\s*<current_datetime>[^<]*</current_datetime>\s*")


class Copilot:
    """Chat, command line and SDK."""

    info = DialectCard(
        name="copilot",
        version=1,
        sentence="GitHub Copilot Chat and CLI: the conventions with copilot_chat.* and github.copilot.*; the editor's additions taken off.",
        source="microsoft/vscode-copilot-chat genAiAttributes.ts (2026-03), GitHub Copilot CLI 1.0.102",
        detects=("copilot_chat.", "github.copilot."),
        content=("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.call.{arguments,result}"),
        lacks="VS Code's tool results have no call id and end at 64,000 characters; its own-key providers carry only a request's id.",
        switch=(
            "github.copilot.chat.otel.captureContent or COPILOT_OTEL_CAPTURE_CONTENT=true (VS Code); "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (CLI)"
        ),
        conversation_ids=("copilot_chat.chat_session_id", "copilot_chat.session_id", "gen_ai.conversation.id"),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        operation = a.get("gen_ai.operation.name")
        asked_by = text_or_none(a.get("gen_ai.agent.name")) or ""
        if text_or_none(a.get(_LABEL)) in _ASIDES or (operation == "chat" and asked_by.removeprefix("retry-") in _ASIDES):
            return Reading(kind=StepKind.WRAPPER, alone=True)
        reading = SEMCONV.read(evidence)
        content = reading.content if reading is not None else None
        if content is None or operation not in ("chat", "invoke_agent"):
            return None
        return Reading(content=lambda: _plain(content()), alone=True)


COPILOT = Copilot()


def _plain(content: StepContent) -> StepContent:
    return replace(content, input=None if content.input is None else tuple(_words(m) for m in content.input))


def _words(message: Message) -> Message:
    """A user's message without what the editor or the command line put around the words."""
    text = message.text if message.role == "user" and len(message.parts) == 1 else None
    if text is None or "<" not in text:
        return message
    found = _REQUEST.match(text)
    words = found.group(2) if found else _TIME.sub("", text, count=1) if _TIME.match(text) else text
    return message if words == text or not words else replace(message, parts=(Text(text=words),))
