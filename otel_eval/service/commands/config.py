"""`otel-eval config check|schema|show`: what a configuration comes to, before anything is started."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from otel_eval.service.config import Config, load_config
from otel_eval.service.config.render import shown
from otel_eval.service.config.values import text_from_bytes, text_from_seconds
from otel_eval.service.judge_config import judge_from_config, judge_kind, judge_settings
from otel_eval.service.serve.building import is_wide, plan_from_config, sinks_from_config
from otel_eval.service.serve.plan import Plan, PlannedRun
from otel_eval.service.serve.reception import hop_from_config, receive_settings


def run(*, action: str, config: Path | None = None, **_: Any) -> int:
    """Do what is asked; `ConfigError` where the configuration cannot work."""
    if action == "schema":
        print(schema_text(), end="")
        return 0
    loaded = load_config(config)
    if action == "show":
        print(shown(loaded.config, loaded.origins), end="")
        return 0
    source = str(loaded.path) if loaded.path else "no file: defaults and environment"
    for line in [f"configuration: {source}", *(f"warning: {w}" for w in loaded.warnings), *check_lines(loaded.config)]:
        print(line)
    sys.stdout.flush()
    return 0


def schema_text() -> str:
    """The JSON Schema of the configuration."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema(mode="validation")}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def check_lines(config: Config) -> Iterator[str]:
    """What the configuration comes to, a sentence each. ConfigError for what cannot work, found as `serve` would find it."""
    yield from _receive_lines(config)
    c = config.store
    yield f"store: {c.path}, up to {text_from_bytes(c.max_bytes)}; results kept {text_from_seconds(c.keep)}"
    plan = plan_from_config(config)
    yield from _completion_lines(config)
    if not plan.runs:
        yield "warning: metrics is empty: nothing is ever scored; leave the key out for the default metrics"
    for planned in plan.runs:
        yield _metric_line(planned, plan)
    yield from _judge_lines(config)
    names = list(sinks_from_config(config, os.environ))
    yield f"results go to: {', '.join(names) or 'nowhere'}"
    if hop_from_config(config, os.environ) is not None:
        held = text_from_seconds(config.inline.hold)
        yield f"in line: everything is forwarded to {config.inline.endpoint}; selected spans held up to {held}"


def _receive_lines(config: Config) -> Iterator[str]:
    receive_settings(config)
    r = config.receive
    for name, part in (("OTLP/gRPC", r.grpc), ("OTLP/HTTP", r.http)):
        if not part.enabled:
            yield f"{name}: off"
            continue
        yield f"{name}: {part.endpoint}{' with TLS' if r.tls.certificate_file else ''}"
        if is_wide(part.endpoint) and not (r.token or r.token_file or r.tls.client_ca_file):
            yield f"warning: {part.endpoint} can be reached from outside and asks for no token: set receive.token_file or bind to localhost"


def _completion_lines(config: Config) -> Iterator[str]:
    c, s = config.completion, config.selection
    yield (
        f"a trace is read {text_from_seconds(c.trace_quiet)} after its last span (at most {text_from_seconds(c.trace_max_age)} after its "
        f"first), a conversation is over after {text_from_seconds(c.conversation_idle)} of silence"
    )
    if c.trace_quiet > c.trace_max_age:
        yield (
            f"warning: completion.trace_quiet ({text_from_seconds(c.trace_quiet)}) is longer than completion.trace_max_age "
            f"({text_from_seconds(c.trace_max_age)}): every trace is taken by its age, and the quiet time never counts"
        )
    share = f"{s.triage_share:.0%} of what is judged may be triage" if s.rate < 1 and s.triage_share else "no triage"
    yield f"selection: {s.rate:.4g} of conversations; {share}"


def _metric_line(planned: PlannedRun, plan: Plan) -> str:
    rate = f", rate {planned.rate:g}" if planned.rate != plan.rules.rate else ""
    return f"metric: {planned.name} at the {'trace' if planned.at_trace else 'end of the conversation'}{rate}"


def _judge_lines(config: Config) -> Iterator[str]:
    judge_from_config(config.judge, os.environ)
    kind, c = judge_kind(config.judge), config.judge
    if kind == "heuristic":
        yield "judge: built-in rules; set judge.model for a model"
        return
    settings = judge_settings(c, kind, os.environ)
    yield f"judge: {settings.model} at {settings.base_url} ({kind})"
    if c.first is not None:
        yield f"asked first: {c.first.model} at {c.first.base_url or settings.base_url} ({c.first.kind}), trusted from {c.first.accept:g}"
    for other in c.panel:
        yield f"with a vote: {other.model} at {other.base_url or settings.base_url} ({other.kind})"
