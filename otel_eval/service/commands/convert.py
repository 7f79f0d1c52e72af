"""`otel-eval convert`: the conversations of trace files, one JSON object a line."""

import json
import sys
from pathlib import Path
from typing import Any

from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.service.convert import conversations_from_paths

FORMATS = {"messages": messages_from_conversation}


def run(*, paths: tuple[Path, ...], format: str = "messages", join_by_history: bool = False, **_: Any) -> int:
    """Write each conversation as one line of JSON; 0 when done."""
    conversion = conversations_from_paths(paths, join_by_history=join_by_history, stdin=sys.stdin.buffer)
    write = FORMATS[format]
    for conversation in conversion.conversations:
        sys.stdout.write(json.dumps(write(conversation), ensure_ascii=False, default=str) + "\n")
    conversion.report.print(sys.stderr)
    return 0
