"""`otel-eval explain ID`: what became of it and why."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.service.config import Config, load_config
from otel_eval.service.explain import explanation, lines_of
from otel_eval.service.serve.building import MEMORY, limits_from_config
from otel_eval.service.server_client import page, server_url
from otel_eval.store.admin import find_in_file

FOUND, UNKNOWN = 0, 1


def run(
    *, id: str, config: Path | None = None, server: str | None = None, store: Path | None = None, as_json: bool = False, **_: Any
) -> int:
    """Explain an id. 1 where nobody knows it."""
    settings = load_config(config).config
    units = _units(id, settings, server, store)
    if not units:
        sys.stderr.write(f"otel-eval: no trace, conversation or result {id!r} is known: it never came, or `store.keep` is over\n")
        return UNKNOWN
    if as_json:
        print(json.dumps({"units": units}, ensure_ascii=False, indent=2))
        return FOUND
    print("\n\n".join("\n".join(lines_of(unit)) for unit in units))
    return FOUND


def _units(any_id: str, config: Config, server: str | None, store: Path | None) -> Sequence[Mapping[str, Any]]:
    path = store or (Path(config.store.path) if config.store.path != MEMORY else None)
    if server is None and path is not None and path.exists():
        return [explanation(record, limits_from_config(config), time.time()) for record in find_in_file(path, any_id)]
    status, told = page(server_url(server, config), config, "explain", any_id)
    if status == 404:
        return []
    if status != 200:
        raise ConfigError(f"the server answered {status}: {told.get('error', 'no reason given')}")
    units: Sequence[Mapping[str, Any]] = told["units"]
    return units
