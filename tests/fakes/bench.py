"""A scorer without ports and without waiting: what is sent is kept at once, time passes when told, and everything due is done then.

async def told(): …
    bench = Bench(judge=ScriptedJudge(...), completion__max_revisions=2)
    await bench.send(chat(1, …))
    await bench.after(10)
    bench.outcome("trace", trace_id(1))
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from otel_eval.dialects import BUILTIN
from otel_eval.judges.base import Judge
from otel_eval.model import LogRecord, Report, Span
from otel_eval.otlp.receive.encoding import Encoding
from otel_eval.otlp.receive.intake import Intake
from otel_eval.service.config import load_config
from otel_eval.service.judge_choice import JudgeChoice
from otel_eval.service.serve.building import plan_from_config
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects
from otel_eval.service.serve.lifecycle import parts_of
from otel_eval.service.serve.scorer import set_scoring
from otel_eval.store import OutcomeRow, Unit, UnitRecord
from otel_eval.testing import ScriptedJudge
from tests.fakes.spans import to_json
from tests.fakes.stores import Time, open_store

QUICK = {
    "completion__trace_quiet": "10s",
    "completion__trace_max_age": "60s",
    "completion__conversation_idle": "100s",
    "metrics": ["turn_count"],
}


class Remembering:
    """A sink behind the outbox that keeps what it would send."""

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def payload(self, report: Report) -> bytes | None:
        self.reports.append(report)
        return b"x"

    async def send(self, payloads: Iterable[bytes]) -> str:
        return ""


class Bench:
    """Settings are keys of the configuration, as `section__key`."""

    def __init__(self, *, judge: Judge | None = None, path: Path | None = None, time: Time | None = None, **settings: Any) -> None:
        environ = {f"OTEL_EVAL__{k.upper()}": v if isinstance(v, str) else json.dumps(v) for k, v in {**QUICK, **settings}.items()}
        self.config = load_config(None, environ).config
        self.time = time or Time()
        self.store = open_store(path, self.time)
        self.plan = plan_from_config(self.config)
        self.sink = Remembering()
        self.judge = judge or ScriptedJudge(answers={})
        self.parts = parts_of(self.store, self.plan, JudgeChoice(judge=self.judge, kind="fake", model=self.judge), {"memory": self.sink})
        set_scoring(self.parts, self.config)
        self.parts.worker.first_pause_s = 0.0
        self.intake = Intake(Keeper(self.store, self.plan.limits), keys=keys_of_dialects(BUILTIN), max_body_bytes=2**26)

    async def send(self, *spans: Span) -> None:
        """A request with these spans, acknowledged."""
        receipt = await self.intake("traces", otlp_json(spans), Encoding(format="json"))
        assert receipt.rejected == 0

    async def send_logs(self, *records: LogRecord) -> None:
        """A request with these log records, acknowledged."""
        receipt = await self.intake("logs", logs_json(records), Encoding(format="json"))
        assert receipt.rejected == 0

    async def after(self, seconds: float) -> None:
        """Let time pass, and do all that is due then."""
        self.time.pass_s(seconds)
        while await self.parts.looker.round() or await self.parts.worker.begin():
            await self.parts.worker.end()

    def outcome(self, kind: Any, key: str) -> OutcomeRow | None:
        return self.store.records.outcome(Unit(kind=kind, key=key))

    def outcome_name(self, kind: Any, key: str) -> str:
        found = self.outcome(kind, key)
        return found.outcome if found is not None else "pending"

    def record(self, kind: Any, key: str) -> UnitRecord:
        found = self.store.records.record(Unit(kind=kind, key=key))
        assert found is not None
        return found

    def facts(self, kind: Any, key: str) -> Mapping[str, Any]:
        found = self.outcome(kind, key)
        assert found is not None
        facts: Mapping[str, Any] = json.loads(found.facts)
        return facts

    def close(self) -> None:
        self.intake.close()
        self.parts.executor.shutdown()
        self.store.close()


def otlp_json(spans: Iterable[Span], *, service: str = "shop") -> bytes:
    """An OTLP/JSON traces request."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return to_json({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [_object(s) for s in spans]}]}]}).encode()


def logs_json(records: Iterable[LogRecord], *, service: str = "shop") -> bytes:
    """An OTLP/JSON logs request."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return to_json({"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": [_log_object(r) for r in records]}]}]}).encode()


def _log_object(record: LogRecord) -> dict[str, Any]:
    ids = {"traceId": record.trace_id, "spanId": record.span_id}
    return {
        "timeUnixNano": str(record.time_ns or 0),
        "observedTimeUnixNano": str(record.observed_ns or 0),
        "eventName": record.event_name,
        "attributes": [{"key": key, "value": _value(value)} for key, value in record.attributes.items()],
        **({} if record.body is None else {"body": _value(record.body)}),
        **{name: value for name, value in ids.items() if value is not None},
    }


def _object(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_span_id or "",
        "name": span.name,
        "kind": 1,
        "traceState": span.trace_state,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": [{"key": key, "value": _value(value)} for key, value in span.attributes.items()],
        "status": {"code": span.status_code, "message": span.status_message},
    }


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
