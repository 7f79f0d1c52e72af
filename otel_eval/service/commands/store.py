"""`otel-eval store info|vacuum|export|revive`."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.service.config import Config, load_config
from otel_eval.service.config.values import text_from_bytes
from otel_eval.service.serve.building import MEMORY, store_from_config
from otel_eval.store import Body, StoreInfo
from otel_eval.store.admin import export, export_bodies, info_of_file, vacuum


def run(*, action: str, config: Path | None = None, store: Path | None = None, **options: Any) -> int:
    """Do what is asked with the store's file. ConfigError where there is none."""
    settings = load_config(config).config
    path = store or Path(settings.store.path)
    if settings.store.path == MEMORY and store is None:
        raise ConfigError("the store of this configuration is in memory: name a file with --store")
    _ACTIONS[action](path, settings, options)
    sys.stdout.flush()
    return 0


def _info(path: Path, settings: Config, options: dict[str, Any]) -> None:
    info = info_of_file(path)
    if options.get("as_json"):
        print(json.dumps(asdict(info), indent=2))
        return
    for line in info_lines(info):
        print(line)


def info_lines(info: StoreInfo) -> Iterator[str]:
    """What is in a store, for people."""
    yield f"{info.place}: version {info.version}, {_size(info.used_bytes)} used, {_size(info.free_bytes)} free inside the file"
    yield f"{info.bodies} requests ({_size(info.body_bytes)}), {info.traces} traces, {info.conversations} conversations"
    for name, depth in info.work.items():
        yield f"queue {name}: {depth.waiting} wait"
    for name, depth in info.outbox.items():
        yield f"outbox {name}: {depth.waiting} wait"
    if info.dead_letters:
        yield f"{info.dead_letters} payloads were refused for good: `otel-eval store revive SINK` sends them once more"


def _size(size: int) -> str:
    return text_from_bytes(size) if size < 1024 else f"{size / 1024**2:.1f} MiB"


def _vacuum(path: Path, settings: Config, options: dict[str, Any]) -> None:
    before, after = vacuum(path)
    print(f"{path}: {_size(before)} before, {_size(after)} now")


def _export(path: Path, settings: Config, options: dict[str, Any]) -> None:
    for record in export(path):
        print(json.dumps(record, ensure_ascii=False, default=str))
    folder: Path | None = options.get("requests")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        count = sum(_write(body, folder) for body in export_bodies(path))
        sys.stderr.write(f"otel-eval: wrote {count} requests to {folder}\n")


def _write(body: Body, folder: Path) -> int:
    (folder / f"{body.id:010}.{body.signal}.otlp").write_bytes(body.data)
    return 1


def _revive(path: Path, settings: Config, options: dict[str, Any]) -> None:
    if not path.exists():
        raise ConfigError(f"there is no store {str(path)!r}")
    named = settings.model_copy(update={"store": settings.store.model_copy(update={"path": str(path)})})
    with store_from_config(named) as store:
        count = store.outbox.revive(options["sink"]).result()
    print(f"{count} payloads for {options['sink']} will be sent again at the next start")


_ACTIONS = {"info": _info, "vacuum": _vacuum, "export": _export, "revive": _revive}
