"""A scorer as a process: signals, and what is said at the start and at the end."""

import asyncio
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path

from otel_eval.errors import OtelEvalError
from otel_eval.service.config import load_config
from otel_eval.service.serve.files import raise_limit
from otel_eval.service.serve.scorer import Scorer, build, with_inline

_log = logging.getLogger(__name__)


async def run(path: Path | None, inline: str | None) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the configuration again."""
    raise_limit()
    loaded = load_config(path)
    scorer = build(replace(loaded, config=with_inline(loaded.config, inline)))
    try:
        await scorer.start()
    except (OtelEvalError, asyncio.CancelledError):
        await scorer.parts.close()
        raise
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, scorer.ended.set)
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, lambda: _say_reloaded(scorer.reload(path, os.environ)))
    _say_started(scorer)
    await scorer.ended.wait()
    _log.info("ending: requests are refused from now on, what is begun is finished")
    await scorer.stop()
    _log.info("ended; what was acknowledged and not finished is in the store")


def _say_started(scorer: Scorer) -> None:
    source, store = scorer.loaded.path or "no file, but defaults and environment", scorer.parts.store.path or "in memory"
    _log.info("configuration: %s; store: %s", source, store)
    for name, address in scorer.state.bound.items():
        _log.info("OTLP/%s on %s", name, address)
    for warning in (*scorer.loaded.warnings, *scorer.receiver.warnings):
        _log.warning("%s", warning)
    if scorer.state.judge_kind == "heuristic":
        _log.info("no judge model is named (judge.model): built-in rules judge, and their scores are marked `heuristic`")
    _log.info("results go to: %s", ", ".join(sender.name for sender in scorer.parts.senders))


def _say_reloaded(sentences: list[str]) -> None:
    for sentence in sentences:
        _log.warning("%s", sentence)
