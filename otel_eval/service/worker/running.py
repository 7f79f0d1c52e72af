"""A worker as a process: signals, and what is said at the start and at the end."""

import asyncio
import logging
import signal
from dataclasses import replace
from pathlib import Path

from otel_eval.errors import OtelEvalError
from otel_eval.service.config import Config, load_config
from otel_eval.service.worker.building import Worker, build

_log = logging.getLogger(__name__)


async def run(path: Path | None, brokers: str | None, status: str | None) -> None:
    """Work until SIGTERM or SIGINT."""
    loaded = load_config(path)
    worker = build(replace(loaded, config=with_options(loaded.config, brokers, status)))
    try:
        await worker.start()
    except (OtelEvalError, asyncio.CancelledError):
        await worker.parts.close()
        raise
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, worker.ended.set)
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, _log.warning, "a worker reads its configuration at the start: restart it to apply another")
    _say_started(worker)
    await worker.ended.wait()
    _log.info("ending: nothing more is read, what is being judged is finished")
    await worker.stop()
    _log.info("ended; what was not finished is read again by another worker")


def with_options(config: Config, brokers: str | None, status: str | None) -> Config:
    """The configuration with what the command line names."""
    named = {name: value for name, value in (("brokers", brokers), ("status", status)) if value is not None}
    return config.model_copy(update={"kafka": config.kafka.model_copy(update=named)})


def _say_started(worker: Worker) -> None:
    topics = ", ".join(f"{name} ({count} partitions)" for name, count in worker.partitions.items())
    _log.info("reading %s", topics)
    if worker.pages is not None:
        _log.info("status on port %d", worker.pages.http_port)
    if worker.state.judge_kind == "heuristic":
        _log.info("no judge model is named (judge.model): built-in rules judge, and their scores are marked `heuristic`")
    _log.info("results go to: %s", ", ".join(sender.name for sender in worker.parts.senders))
