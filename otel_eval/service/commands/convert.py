"""`otel-eval convert`: the conversations of trace files, one JSON object a line."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from otel_eval.exchange.adk import adk_from_conversation
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.exchange.openai import openai_from_conversation
from otel_eval.exchange.own import own_from_conversation
from otel_eval.exchange.ragas import ragas_from_conversation
from otel_eval.model import Conversation
from otel_eval.service.convert import Conversion, conversations_from_paths
from otel_eval.service.progress import unwatched, watch_for

FORMATS: Mapping[str, Callable[[Conversation], dict[str, Any]]] = {
    "messages": messages_from_conversation,
    "json": own_from_conversation,
    "openai": openai_from_conversation,
    "ragas": ragas_from_conversation,
    "adk": adk_from_conversation,
}
DONE, NOTHING_FOUND = 0, 1


def run(*, paths: tuple[Path, ...], format: str = "messages", join_by_history: bool = False, **_: Any) -> int:
    """Write each conversation as one line of JSON. 0 when done, 1 when there was none, `InputError` when nothing could be read."""
    conversion = _converted(paths, join_by_history=join_by_history)
    conversion.report.print(sys.stderr)
    write = FORMATS[format]
    for conversation in conversion.conversations:
        # Bytes and not text: JSON is UTF-8 whatever the terminal's encoding.
        sys.stdout.buffer.write(f"{text_from_value(write(conversation))}\n".encode())
    if conversion.conversations:
        return DONE
    sys.stderr.write("otel-eval: there is no conversation in the input; `otel-eval doctor` says what was found\n")
    return NOTHING_FOUND


def _converted(paths: tuple[Path, ...], *, join_by_history: bool) -> Conversion:
    progress = watch_for(sys.stderr)
    try:
        return conversations_from_paths(paths, join_by_history=join_by_history, stdin=sys.stdin.buffer, watch=progress or unwatched)
    finally:
        if progress is not None:
            progress.clear()
