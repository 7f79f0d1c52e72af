"""`instrument()`: one call, before agents are made, and the process traces, exports and, if asked, scores itself.

    otel_eval.instrument(online=True)

What was done is told line by line on standard error where OTEL_EVAL_DEBUG is set, and stands in `told`.
"""

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

from otel_eval.inprocess.capture import call_instrumentors, installed, set_variables, switch_pydantic_ai
from otel_eval.inprocess.providers import Providers, providers_from_env
from otel_eval.inprocess.recipe import Configured
from otel_eval.inprocess.scorer import OnlineScorer

DEBUG_VARIABLE = "OTEL_EVAL_DEBUG"


@dataclass(slots=True, kw_only=True)
class Instrumented:
    """What `instrument` did, and how to take it back."""

    providers: Providers
    scorer: OnlineScorer | None = None
    told: list[str] = field(default_factory=list)
    """A sentence on each thing done or left."""
    _undo: ExitStack = field(default_factory=ExitStack)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Score what is complete, then export everything; whether that was done in time. For serverless: before the handler returns."""
        is_scored = self.scorer is None or self.scorer.force_flush(timeout_millis)
        return self.providers.flush(timeout_millis) and is_scored

    def undo(self) -> None:
        """Take back: instrumentors off, variables as they were, scorer and providers that were made here ended.

        A provider stays the global one, ended: OpenTelemetry lets none be replaced.
        """
        _IN_FORCE.clear()
        self._undo.close()

    def tell(self, sentence: str) -> None:
        self.told.append(sentence)
        if os.environ.get(DEBUG_VARIABLE):
            sys.stderr.write(f"otel-eval: {sentence}\n")

    def attach(self, scorer: OnlineScorer, *, is_ours: bool) -> None:
        """Hang a scorer in: it sees what ends and is logged from now on."""
        self.scorer = scorer
        self.providers.tracers.add_span_processor(scorer)
        self.providers.loggers.add_log_record_processor(scorer)
        if is_ours:
            self._undo.callback(scorer.shutdown)
        self.tell("scorer: scores in this process" if is_ours else "scorer: yours is hung in")


_IN_FORCE: Final[list[Instrumented]] = []
"""What is in force. A process has one set of global providers; so there is one of this, or none."""


def instrument(
    *,
    online: bool = False,
    scorer: OnlineScorer | None = None,
    config: Configured = None,
    content: bool = True,
    **settings: Any,
) -> Instrumented:
    """Providers and exporters from the standard environment, content capture for what is installed, and a scorer if asked.

    Providers that are there stay and are added to. `online` makes an `OnlineScorer(config, **settings)`, `scorer` hangs in one that
    exists; `content=False` leaves instrumentations as they are. A second call changes nothing, but for a scorer where there was none.
    ConfigError for a configuration that cannot work.
    """
    if _IN_FORCE:
        found = _IN_FORCE[0]
        _attach(found, online, scorer, config, settings)
        return found
    undo, told = ExitStack(), list[str]()
    made = Instrumented(providers=providers_from_env(os.environ, told.append, undo), _undo=undo)
    for sentence in told:
        made.tell(sentence)
    _attach(made, online, scorer, config, settings)
    if content:
        _capture(made, undo)
    _IN_FORCE.append(made)
    return made


def _attach(made: Instrumented, online: bool, scorer: OnlineScorer | None, config: Configured, settings: dict[str, Any]) -> None:
    if made.scorer is not None or not (online or scorer is not None):
        return
    if scorer is not None:
        made.attach(scorer, is_ours=False)
        return
    given = {"tracer_provider": made.providers.tracers, "logger_provider": made.providers.loggers, "meter_provider": made.providers.meters}
    made.attach(OnlineScorer(config, **{**given, **settings}), is_ours=True)


def _capture(made: Instrumented, undo: ExitStack) -> None:
    """Variables first: instrumentors read them when they are called."""
    packages = installed()
    for sentence in set_variables(packages, os.environ, undo):
        made.tell(sentence)
    for sentence in call_instrumentors(packages, made.providers.named(), undo):
        made.tell(sentence)
    for sentence in switch_pydantic_ai(packages, undo):
        made.tell(sentence)
