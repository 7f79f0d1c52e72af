"""`otel-eval init`: a commented configuration to start from."""

import sys
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.service.config.render import commented_file


def run(*, path: Path, force: bool = False, **_: Any) -> int:
    """Write the file; one that is there stays unless forced."""
    if path.exists() and not force:
        raise ConfigError(f"{str(path)!r} is already there: name another, or say --force to write over it")
    try:
        path.write_text(commented_file(), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    sys.stderr.write(f"otel-eval: wrote {path}; `otel-eval config check` says what it comes to\n")
    return 0
