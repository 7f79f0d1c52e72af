"""`otel-eval serve`: score live traffic."""

import asyncio
from pathlib import Path
from typing import Any

from otel_eval.service.config import load_config
from otel_eval.service.serve import logs, running


def run(*, config: Path | None = None, inline: str | None = None, **_: Any) -> int:
    """Serve until told to end. `ConfigError` for whatever cannot work, before a port is bound."""
    telemetry = load_config(config).config.telemetry
    logs.set_up(telemetry.log_level, telemetry.log_format)
    asyncio.run(running.run(config, inline))
    return 0
