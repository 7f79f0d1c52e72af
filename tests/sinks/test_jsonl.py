"""JSON lines: one object a result, with everything that is known of it."""

import asyncio
import io
import json
from typing import Any

from otel_eval.model import Failed, FailReason, JudgeUse, Outcome, Report, Result, Score, Skipped, SkipReason
from otel_eval.sinks.jsonl import JsonlSink
from tests.fakes.talk import TRACE, booking, ref


def written(outcome: Outcome) -> dict[str, Any]:
    stream = io.StringIO()
    result = Result(id="i1", metric="m", metric_version="2", outcome=outcome, anchor=ref(1))
    asyncio.run(JsonlSink(stream).write(Report(conversation=booking(), results=(result,), time_ns=5)))
    (line,) = stream.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_score() -> None:
    """Value, label, explanation, and evidence as messages with the spans they were read from."""
    found = written(Score(value=0.5, label="x", explanation="왜냐하면", evidence=(2,), judge=JudgeUse(kind="heuristic")))
    assert (found["outcome"], found["value"], found["explanation"]) == ("score", 0.5, "왜냐하면")
    assert found["evidence"] == [{"message": 2, "trace_id": TRACE, "span_id": ref(3).span_id}]
    assert (found["result_id"], found["trace_id"], found["span_id"], found["time_ns"]) == ("i1", TRACE, ref(1).span_id, 5)
    assert found["judge"]["kind"] == "heuristic"
    assert found["judge"]["cost_usd"] is None


def test_what_has_no_score_has_no_value() -> None:
    """Skipped and failed results have a reason and no field `value` at all."""
    assert written(Skipped(reason=SkipReason.UNDEFINED))["reason"] == "undefined"
    failed = written(Failed(error_type=FailReason.REPLY_EMPTY, detail="d"))
    assert (failed["error_type"], "value" in failed) == ("reply_empty", False)


def test_half_characters_are_written_as_replacements() -> None:
    """A line can be written in UTF-8 whatever a judge or an application cut."""
    assert written(Score(value=1.0, explanation="cut \ud83d"))["explanation"] == "cut \ufffd"
