"""Judges that do what they are told, and a clock that moves when somebody sleeps."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.errors import JudgeError
from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Form, Judge, Question, Reply
from otel_eval.model import JudgeUse

FORM = Form(name="yes_no", fields={"reason": REASON, "evidence": Blocks(count=4), "certainty": CERTAINTY, "verdict": VERDICT})


def question(text: str = "Is it so?", **more: Any) -> Question:
    return Question(name="yes_no", form=FORM, preamble="P", record="RECORD n1 BEGINS", ask=text, nonce="n1", **more)


def reply(verdict: str = "yes", *, confidence: float | None = None, certainty: str = "clear", **use: Any) -> Reply:
    spent = {"kind": "model", "model": "m", "calls": 1, "input_tokens": 100, "output_tokens": 10, **use}
    answer = {"reason": "ok", "evidence": [], "certainty": certainty, "verdict": verdict}
    return Reply(answer=answer, use=JudgeUse(**spent), confidence=confidence)


def failure(reason: str, **more: Any) -> JudgeError:
    return JudgeError(reason, reason, **more)


@dataclass(slots=True)
class Told:
    """Gives these outcomes in order; the last one repeats."""

    outcomes: Sequence[Reply | JudgeError]
    delay_s: float = 0.0
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        outcome = self.outcomes[min(len(self.asked), len(self.outcomes)) - 1]
        await asyncio.sleep(self.delay_s)
        if isinstance(outcome, JudgeError):
            raise outcome
        return outcome


@dataclass(slots=True)
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def outcome_of(make: Callable[[], Any]) -> Any:
    """The reply, or the error instead of raising it."""
    try:
        return asyncio.run(make())
    except JudgeError as error:
        return error


def ask(judge: Judge, asked: Question | None = None) -> Any:
    """What one judge says to one question; an error is given back, not raised."""
    return outcome_of(lambda: judge.ask(asked or question()))
