"""A model from a GGUF file, served in this process on loopback: content never leaves the machine. Needs the extra `local`.

The server is llama.cpp's own, with an OpenAI-compatible interface, so everything that asks it is the same as for any other endpoint. It
listens on a free port with a key of its own: nobody else on the machine can ask it.
"""

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import xllamacpp

from otel_eval.errors import ConfigError, JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.openai import OpenAIJudge
from otel_eval.judges.settings import JudgeSettings

_WINDOW_TOKENS = 32_768
_QUIET = -1
_MAGIC = b"GGUF"
_SMALL_BYTES = 3_000_000_000
"""A file below it is a model of at most some five billion parameters at four bits each."""
_CALL_TIMEOUT_S = 600.0
"""A long record takes a small machine minutes to read for the first time (76 s for 3,900 tokens with 1.5B parameters on two cores)."""


class LocalJudge:
    """Loads the file with the first question, and answers one at a time. `settings.model` is the file's path."""

    def __init__(self, settings: JudgeSettings, *, serve: Callable[[Path, str], tuple[Any, str]] | None = None) -> None:
        self._path = Path(settings.model)
        _check(self._path)
        self._settings = settings
        self._serve = serve or _served
        self._start = asyncio.Lock()
        self._server: Any = None
        self._judge: OpenAIJudge | None = None

    async def ask(self, question: Question) -> Reply:
        async with self._start:
            if self._judge is None:
                self._judge = await self._started()
        return await self._judge.ask(question)

    async def close(self) -> None:
        """Stop asking and let go of the model."""
        if self._judge is not None:
            await self._judge.close()
        self._server = self._judge = None

    async def _started(self) -> OpenAIJudge:
        key = secrets.token_urlsafe(24)
        self._server, address = await asyncio.to_thread(self._serve, self._path, key)
        timeout_s = max(self._settings.call_timeout_s, _CALL_TIMEOUT_S)
        wording = self._settings.wording or ("small" if self._path.stat().st_size < _SMALL_BYTES else "full")
        return OpenAIJudge(
            replace(
                self._settings,
                model=self._path.stem,
                base_url=f"{address}/v1",
                api_key=key,
                bounds=True,  # without limits of length a small model fills lists up to the cap
                wording=wording,
                call_timeout_s=timeout_s,
            )
        )


def _check(path: Path) -> None:
    """ConfigError where a look at the file is enough to see that it is no model: before the first conversation, not with it."""
    if not path.is_file():
        raise ConfigError(f"there is no model file {str(path)!r}: give --judge local:PATH with the path of a GGUF file")
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ConfigError(f"the file {str(path)!r} is no GGUF file: --judge local:PATH takes a model in the format of llama.cpp")


def _served(path: Path, key: str) -> tuple[Any, str]:
    """The server, which lives as long as it is held, and its address."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = _WINDOW_TOKENS
    parameters.n_parallel = 1  # the window is divided among what runs at the same time
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) // 2)
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.verbosity = _QUIET
    try:
        server = xllamacpp.Server(parameters)
    except (RuntimeError, ValueError) as error:
        why = f"the model file {str(path)!r} cannot be loaded: is it a whole GGUF file, and is there memory for it?"
        raise JudgeError(faults.MISCONFIGURED, why) from error
    return server, str(server.listening_address)
