"""Stops asking an endpoint that is in trouble, so that every conversation does not find out for itself.

Three states, each with a closed reason: open (five failures in a row, or half of the last twenty), held (the endpoint said when to come
back) and paused (key, account or configuration: somebody must act). One question is let through when the time is over; its success closes
the breaker, its failure opens it for twice as long.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from otel_eval.errors import JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Judge, Question, Reply

_IN_A_ROW, _WINDOW = 5, 20
_FIRST_OPEN_S, _LONGEST_OPEN_S = 30.0, 600.0
_FIRST_HOLD_S = 5.0
_PAUSE_S = 60.0


@dataclass(slots=True, kw_only=True)
class BreakerJudge:
    """A judge that is left in peace while its endpoint cannot answer. One for each endpoint and model."""

    judge: Judge
    clock: Callable[[], float] = time.monotonic
    reason: str | None = None
    """Why nothing is asked at present; None while the endpoint is asked."""
    _until: float = 0.0
    _open_s: float = _FIRST_OPEN_S
    _probing: bool = False
    _row: int = 0
    _recent: deque[bool] = field(default_factory=lambda: deque(maxlen=_WINDOW))

    @property
    def paused(self) -> str | None:
        """The reason, where only a person can help: `judge_quota`, `judge_auth` or `judge_misconfigured`."""
        return self.reason if self.reason in faults.PAUSING else None

    @property
    def failures(self) -> int:
        """Failures of the endpoint in a row."""
        return self._row

    async def ask(self, question: Question) -> Reply:
        probing = self._admit()
        try:
            reply = await self.judge.ask(question)
        except JudgeError as error:
            self._failed(error, probing)
            raise
        finally:
            if probing:
                self._probing = False
        self._answered()
        return reply

    def _admit(self) -> bool:
        """Whether this question is the probe of a breaker whose time is over; raises where nothing may be asked."""
        if self.reason is None:
            return False
        left_s = self._until - self.clock()
        if left_s > 0 or self._probing:
            raise JudgeError(self.reason, f"the judge is not asked at present ({self.reason})", retry_after_s=max(left_s, 1.0))
        self._probing = True
        return True

    def _answered(self) -> None:
        self.reason, self._row, self._open_s = None, 0, _FIRST_OPEN_S
        self._recent.append(True)

    def _failed(self, error: JudgeError, probing: bool) -> None:
        if error.reason in faults.PAUSING:
            self._stop(error.reason, _PAUSE_S)
        elif error.reason == faults.RATE_LIMITED:
            self._stop(error.reason, error.retry_after_s or _FIRST_HOLD_S)
        elif error.reason in faults.COUNTED:
            self._count(error.reason, probing)
        elif probing:  # the endpoint answers again; this question was the trouble
            self._answered()

    def _count(self, reason: str, probing: bool) -> None:
        self._row += 1
        self._recent.append(False)
        full = len(self._recent) == _WINDOW and self._recent.count(False) * 2 >= _WINDOW
        if probing:
            self._open_s = min(2 * self._open_s, _LONGEST_OPEN_S)
        if probing or full or self._row >= _IN_A_ROW:
            self._stop(reason, self._open_s)

    def _stop(self, reason: str, seconds: float) -> None:
        self.reason, self._until = reason, self.clock() + seconds
        self._recent.clear()
