"""`otel-eval top`: a running server, watched."""

import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.service.config import Config, load_config
from otel_eval.service.server_client import page, server_url

_EVERY_S = 1.0
_RECENT_SHOWN = 12


def run(*, config: Path | None = None, server: str | None = None, once: bool = False, **_: Any) -> int:
    """Show the server until interrupted. ConfigError where rich is not installed or nobody answers."""
    settings = load_config(config).config
    url = server_url(server, settings)
    parts = _rich()
    status, recent = _asked(url, settings)
    console = parts["console"].Console()
    if once or not console.is_terminal:
        console.print(view(parts, status, recent, {}, url))
        return 0
    with parts["live"].Live(console=console, screen=True, auto_refresh=False) as live:
        before: Mapping[str, Any] = {}
        while True:
            live.update(view(parts, status, recent, before, url), refresh=True)
            time.sleep(_EVERY_S)
            before = status
            status, recent = _asked(url, settings)


def _rich() -> Mapping[str, ModuleType]:
    """The modules of rich that are needed; it is no part of the core."""
    try:
        return {name: import_module(f"rich.{name}") for name in ("console", "live", "table", "panel", "text")}
    except ImportError:
        raise ConfigError(
            "`otel-eval top` needs the package rich: install it with `pip install 'otel-eval[top]'`; GET /status tells the same as JSON"
        ) from None


def _asked(url: str, config: Config) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    code, status = page(url, config, "status")
    if code != 200:
        raise ConfigError(f"the server answered {code}: {status.get('error', 'no reason given')}")
    return status, page(url, config, "recent")[1].get("recent", [])


def view(
    parts: Mapping[str, ModuleType], status: Mapping[str, Any], recent: Sequence[Mapping[str, Any]], before: Mapping[str, Any], url: str
) -> Any:
    """Everything on one screen."""
    grid = parts["table"].Table.grid(padding=(0, 2))
    grid.add_row(parts["text"].Text(f"otel-eval {status.get('version', '')} at {url}, up {status['uptime_s']:.0f} s", style="bold"))
    for line in head_lines(status, before):
        grid.add_row(parts["text"].Text(line))
    grid.add_row(_outcomes(parts, status))
    grid.add_row(_recent(parts, recent))
    return grid


def head_lines(status: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[str]:
    """State, rates, queues, judge and sinks, a line each."""
    yield "ready" if status["ready"] else f"not ready: {'; '.join(status['missing'])}"
    store = status["store"]
    yield f"store: {store['used_bytes'] / 1024**2:.1f} of {store['max_bytes'] / 1024**2:.0f} MiB, {store['requests']} requests kept"
    scored = sum(status["scored"].values())
    rate = f" ({(scored - sum(before['scored'].values())) / (status['uptime_s'] - before['uptime_s'] or 1):.1f} a second)" if before else ""
    yield f"scored: {scored}{rate}"
    queues = ", ".join(f"{name} {q['waiting']}{_age(q)}" for name, q in status["queues"].items())
    yield f"queues: {queues or 'empty'}"
    judge = status["judge"]
    yield f"judge: {judge['model'] or judge['kind']}{', not asked: ' + judge['not_asked_since'] if judge['not_asked_since'] else ''}"
    spent = status["spent"]
    tokens = f"{spent['input_tokens']:,.0f} tokens in, {spent['output_tokens']:,.0f} out"
    yield f"spent: {spent['calls']:.0f} calls, {tokens}, {spent['cost_usd']:.4f} USD"
    for name, sink in status["sinks"].items():
        waiting = status["outbox"].get(name, {"waiting": 0, "oldest_s": None})
        trouble = f"; {sink['trouble']}" if sink["trouble"] else ""
        yield f"{name}: {sink['sent']} sent, {waiting['waiting']} wait{_age(waiting)}, {sink['dead']} refused for good{trouble}"


def _age(depth: Mapping[str, Any]) -> str:
    return f" (oldest {depth['oldest_s']:.0f} s)" if depth.get("oldest_s") is not None else ""


def _outcomes(parts: Mapping[str, ModuleType], status: Mapping[str, Any]) -> Any:
    table = parts["table"].Table(title="outcomes", title_justify="left")
    for name in ("unit", "outcome", "reason", "count"):
        table.add_column(name, justify="right" if name == "count" else "left")
    for row in status["outcomes"]:
        table.add_row(row["kind"], row["outcome"], row["reason"], str(row["units"]))
    return table


def _recent(parts: Mapping[str, ModuleType], recent: Sequence[Mapping[str, Any]]) -> Any:
    names = list(dict.fromkeys(name for each in recent for name in each["scores"]))
    table = parts["table"].Table(title="recent conversations", title_justify="left")
    for name in ("conversation", "agent", "turns", *names):
        table.add_column(name, overflow="ellipsis", no_wrap=True, min_width=5, max_width=24)
    for each in recent[:_RECENT_SHOWN]:
        cells = [_cell(each["scores"].get(name)) for name in names]
        table.add_row(*map(parts["text"].Text, (str(each["conversation"]), each["agent"] or "", str(each["turns"]), *cells)))
    return table


def _cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.2f}"
