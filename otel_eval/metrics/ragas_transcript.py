"""The transcript as ragas 0.4.3 writes it into its prompts.

**Source**: ragas 0.4.3 `src/ragas/messages.py`, `pretty_repr`: `Human: `, `AI: ` and `ToolOutput: ` with the content; calls as a line
`Tools:` and then two spaces, the name and the Python form of the arguments.
"""

from collections.abc import Iterator

from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.transcript import Record, record_from_text
from otel_eval.model import Conversation, Message


def ragas_transcript(conversation: Conversation) -> str:
    """All messages, one below the other; there is no place for system instructions, call ids and tool names of results."""
    return "\n".join(line for message in conversation.messages for line in _lines(message))


def ragas_record(given: MetricInput) -> tuple[Record, str]:
    """The transcript as a fenced record, and as it is."""
    transcript = ragas_transcript(given.conversation)
    record = record_from_text(transcript, conversation=given.conversation, secret=given.secret, revision=given.revision)
    return record, transcript


def _lines(message: Message) -> Iterator[str]:
    text = message.text or ""
    if message.role == "assistant":
        yield from _agent_lines(message, text)
    elif message.tool_result:
        yield f"ToolOutput: {message.tool_result.content or ''}"
    else:
        yield f"Human: {text}"


def _agent_lines(message: Message, text: str) -> Iterator[str]:
    if text or not message.tool_calls:
        yield f"AI: {text}" if text else ""
    if message.tool_calls:
        yield "Tools:"
        for call in message.tool_calls:
            yield f"  {call.name or ''}: {dict(call.arguments or {})!r}"
