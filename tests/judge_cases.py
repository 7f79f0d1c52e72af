"""Runs files of judge cases, and says what differs.

    python tests/judge_cases.py FILE…

reads JSON Lines in the formats of `judge-replies.jsonl` (scripted replies, HTTP answers and slow bodies of an endpoint, and the outcome
that must follow) and `judge-injection.jsonl` (conversations that try to steer the judge), prints one line for each thing that differs and
closes with `N passed, N failed`.

A reply case passes when the whole chain (breaker, retry, repair, the judge itself) against a real server on loopback gives the outcome with
the number of requests. An injection case passes when the rendered question holds the attack inside the fence only, the fence cannot be
closed or guessed from inside, and an answer without content is decided without a call.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from otel_eval.errors import JudgeError
from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Form, Question, Reply, Sentence
from otel_eval.judges.breaker import BreakerJudge
from otel_eval.judges.habits import Habits, Rung
from otel_eval.judges.openai import OpenAIJudge, prompt_bytes
from otel_eval.judges.repair import RepairJudge
from otel_eval.judges.retry import RetryJudge
from otel_eval.judges.settings import JudgeSettings
from otel_eval.metrics.agent_goal_accuracy import goal_form
from otel_eval.metrics.topic_adherence import topic_form
from tests.fakes.injection import injection_problems
from tests.fakes.judge_server import JudgeServer

Case: TypeAlias = Mapping[str, Any]

FORMATS: Mapping[str, Rung] = {
    "schema": "schema",
    "json_schema": "schema",
    "tools": "tools",
    "object": "object",
    "json_object": "object",
    "plain": "plain",
    "text": "plain",
}
DEADLINE_S = 30.0
"""Where a case names none: long enough for every wait that our own backoff makes."""


def main(paths: Sequence[str]) -> int:
    """Runs the files; 0 when all cases passed."""
    found = asyncio.run(run_cases([case for path in paths for case in cases_of(Path(path))]))
    passed = 0
    for case, problems in found:
        for problem in problems:
            print(f"{case['id']}: {problem}")
        passed += not problems
    print(f"{passed} passed, {len(found) - passed} failed")
    return int(passed < len(found) or not found)


def cases_of(path: Path) -> Iterator[Case]:
    """The cases of one file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


async def run_cases(cases: Sequence[Case]) -> list[tuple[Case, list[str]]]:
    """Each case with what is wrong with it; all run at the same time, for some of them wait."""
    problems = await asyncio.gather(*map(problems_of, cases))
    return list(zip(cases, problems, strict=True))


async def problems_of(case: Case) -> list[str]:
    """What differs in one case; empty when nothing does."""
    if "replies" in case:
        return await reply_problems(case)
    return await injection_problems(case)


# -- judge-replies.jsonl -----------------------------------------------------------------------------------------------------------------


async def reply_problems(case: Case) -> list[str]:
    """The outcome of one ask through the whole chain, and what the server saw of it."""
    async with JudgeServer([_wired(reply) for reply in case["replies"]]) as server:
        judge = _model(case, server)
        chain = BreakerJudge(judge=RetryJudge(judge=RepairJudge(judge=judge)))
        start = time.monotonic()
        try:
            outcome: Reply | JudgeError = await chain.ask(_question(case))
        except JudgeError as error:
            outcome = error
        took_s = time.monotonic() - start
        await judge.close()
        return [
            *_outcome_differs(case["expected"], outcome),
            *_requests_differ(case["expected"], server),
            *_state_differs(case, chain, judge, took_s),
        ]


def _wired(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A scripted reply in the words of the fake server: a body may be called `text` or `body`, and a slow one says its seconds."""
    wired = {name: value for name, value in reply.items() if name in ("status", "json", "text", "hang", "reset", "after")}
    wired["headers"] = dict(reply.get("headers") or {})
    for name in ("body", "raw"):
        if isinstance(reply.get(name), str):
            wired["text"] = reply[name]
    for name, value in reply.items():
        if name in wired or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        slow = any(word in name for word in ("body", "trickle", "chunk", "slow", "stream"))
        each = any(word in name for word in ("every", "interval", "chunk_delay", "between"))
        wired["trickle_s" if slow or each else "delay_s"] = float(value) if each else float(value) / (20 if slow else 1)
    if not {"json", "text", "hang", "reset"} & wired.keys():
        wired["hang"] = True
    return wired


def _model(case: Case, server: JudgeServer) -> OpenAIJudge:
    rung = FORMATS[case["given"].get("format", "schema")]
    habits = Habits(rung=rung, cap="max_tokens")
    estimated = case["given"].get("estimated_prompt_tokens")
    if estimated:
        habits.bytes_per_token = prompt_bytes(_question(case)) / estimated
    return OpenAIJudge(JudgeSettings(model="judge-model", base_url=server.url, api_key="sk-case", format=rung), habits=habits)


def _question(case: Case) -> Question:
    return Question(
        name=case["question"],
        form=_form(case),
        preamble="You examine records.",
        record="RECORD 0123456789 BEGINS\n[0] USER\n| hello\nRECORD 0123456789 ENDS",
        ask="Question: is it so?",
        deadline=time.monotonic() + case["given"].get("deadline_s", DEADLINE_S),
    )


def _form(case: Case) -> Form:
    blocks, items = case["given"]["messages"], tuple(case["given"].get("items", ()))
    name = case["question"]
    if name in ("topics", "topic_adherence"):
        return topic_form(items, ("d1",), blocks=blocks)
    if name in ("goals", "goal", "goal_accuracy", "requests"):
        return goal_form(items, blocks=blocks)
    evidence: dict[str, Any] = {"reason": REASON, "evidence": Blocks(count=blocks), "certainty": CERTAINTY}
    if name in ("goal_inference", "infer_goal"):
        return Form(name="infer_goal", fields={**evidence, "user_goal": Sentence(), "end_state": Sentence()})
    return Form(name="yes_no", fields={**evidence, "verdict": VERDICT})


def _outcome_differs(expected: Mapping[str, Any], outcome: Reply | JudgeError) -> Iterator[str]:
    if expected["outcome"] == "abstain":
        reason = outcome.reason if isinstance(outcome, JudgeError) else None
        if reason != expected["reason"]:
            yield f"reason is {reason!r}, expected {expected['reason']!r}"
        if isinstance(outcome, JudgeError) and "sk-case" in str(outcome):
            yield "the key stands in the message"
        return
    if isinstance(outcome, JudgeError):
        yield f"abstained with {outcome.reason!r} ({outcome}), expected an answer"
        return
    yield from _value_differs(expected.get("value") or {}, outcome.answer, "")
    dropped = expected.get("evidence_dropped")
    if dropped is not None and outcome.notes.get("evidence_dropped", 0) != dropped:
        yield f"dropped evidence is {outcome.notes.get('evidence_dropped', 0)}, expected {dropped}"


def _value_differs(expected: Any, found: Any, place: str) -> Iterator[str]:
    """Every expected field; fields beyond them are not looked at."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name, value in expected.items():
            yield from _value_differs(value, found[name] if name in found else _entry(found, name), f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (a, b) in enumerate(zip(expected, found, strict=True)):
            yield from _value_differs(a, b, f"{place}[{number}]")
    elif expected != found:
        yield f"value{place} is {found!r}, expected {expected!r}"


def _entry(answer: Mapping[str, Any], name: str) -> Any:
    """The entry of a list in the answer that this id names."""
    rows = [row for value in answer.values() if isinstance(value, list) for row in value if isinstance(row, Mapping)]
    return next((row for row in rows if name in row.values()), None)


def _requests_differ(expected: Mapping[str, Any], server: JudgeServer) -> Iterator[str]:
    count = len(server.requests)
    if "requests" in expected and count != expected["requests"]:
        yield f"the server saw {count} requests, expected {expected['requests']}"
    if count > expected.get("max_requests", count):
        yield f"the server saw {count} requests, at most {expected['max_requests']} are right"
    if "min_wait_s" in expected and (not server.waits or server.waits[0] < expected["min_wait_s"] - 0.01):
        yield f"the second request came after {server.waits[:1]} s, expected at least {expected['min_wait_s']}"
    for name in expected.get("second_request_lacks", ()):
        if count > 1 and name in server.requests[1]:
            yield f"the second request still has {name!r}"
    if expected.get("second_request_has") == "larger output cap" and (count < 2 or _cap(server.requests[1]) <= _cap(server.requests[0])):
        yield "the second request has no larger output cap"


def _cap(request: Mapping[str, Any]) -> int:
    return int(request.get("max_tokens") or request.get("max_completion_tokens") or 0)


def _state_differs(case: Case, chain: BreakerJudge, judge: OpenAIJudge, took_s: float) -> Iterator[str]:
    expected = case["expected"]
    if expected.get("pause") and chain.paused != expected["reason"]:
        yield f"judging is not paused with {expected['reason']!r}"
    if expected.get("breaker_counts") is False and chain.failures:
        yield "the breaker counted it"
    if expected.get("breaker_counts") is True and not chain.failures:
        yield "the breaker did not count it"
    started = FORMATS[case["given"].get("format", "schema")]
    if expected.get("remembered") and not judge.habits.refused and judge.habits.rung == started:
        yield "the refused field was not remembered"
    limit_s = case["given"].get("deadline_s")
    if limit_s is not None and took_s > limit_s + 1.0:
        yield f"it took {took_s:.1f} s, the deadline is {limit_s} s"
    if "max_duration_s" in expected and took_s > expected["max_duration_s"]:
        yield f"it took {took_s:.1f} s, expected at most {expected['max_duration_s']} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
