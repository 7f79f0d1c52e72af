"""`otel-eval worker`: score what comes over Kafka."""

import asyncio
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.service.config import load_config
from otel_eval.service.serve import logs


def run(*, config: Path | None = None, brokers: str | None = None, status: str | None = None, **_: Any) -> int:
    """Work until told to end. `ConfigError` for whatever cannot work, before the group is joined."""
    if find_spec("confluent_kafka") is None:
        raise ConfigError('Kafka\'s client is not installed: run pip install "otel-eval[kafka]"')
    telemetry = load_config(config).config.telemetry
    logs.set_up(telemetry.log_level, telemetry.log_format)
    running = import_module("otel_eval.service.worker.running")  # it imports the client, which may not be there
    asyncio.run(running.run(config, brokers, status))
    return 0
