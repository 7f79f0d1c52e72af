"""Log lines: what happened and where, and of an error its class alone."""

import json
import logging
import sys

import pytest

from otel_eval.service.serve.logs import JsonFormatter, TextFormatter


def failure() -> logging.LogRecord:
    """The record of an error whose text holds somebody's words."""
    try:
        raise ValueError("the words of a user")
    except ValueError:
        return logging.LogRecord("otel_eval.x", logging.ERROR, "x.py", 1, "reading %s failed", ("it",), sys.exc_info())


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_an_error_is_told_by_its_class(formatter: logging.Formatter) -> None:
    """The message and the class stand there; the error's own text, which may hold content, does not."""
    line = formatter.format(failure())
    assert "reading it failed" in line
    assert "ValueError" in line
    assert "words" not in line
    assert "\n" not in line


def test_a_line_for_machines_is_an_object() -> None:
    """Time with zone, severity, logger, message, error."""
    told = json.loads(JsonFormatter().format(failure()))
    assert told.keys() == {"time", "severity", "logger", "message", "error"}
    assert (told["severity"], told["logger"], told["error"]) == ("error", "otel_eval.x", "ValueError")
