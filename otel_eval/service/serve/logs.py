"""Log lines on standard error: text for people or JSON for machines; never content."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

_OURS = "otel_eval"


class JsonFormatter(logging.Formatter):
    """One object a line: time, severity, logger, message, and the class of an error."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "severity": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
        return json.dumps(told, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """Time, severity, message. Of an error only where it happened, never its values: those may hold content."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%d %H:%M:%S")
        error = f" [{record.exc_info[0].__name__}]" if record.exc_info and record.exc_info[0] is not None else ""
        return f"{moment} {record.levelname.lower():<7} {record.getMessage()}{error}"


def set_up(level: str, form: Literal["text", "json"]) -> None:
    """Our own lines at this level; those of libraries only from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level.upper())
