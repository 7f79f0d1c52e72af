"""What the HTTP server tells beside taking OTLP: `/healthz`, `/readyz`, `/status`, `/outcomes`, `/explain/ID`. JSON, without content.

A raw ASGI application around the receiver's: what is under `/v1/` goes there. With a token, all but the two checks ask for it.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

from otel_eval.errors import OtelEvalError
from otel_eval.service.explain import explanation
from otel_eval.service.serve.state import State

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_OPEN = frozenset({"/healthz", "/readyz"})
_EXPLAIN = "/explain/"


@dataclass(frozen=True, slots=True)
class Pages:
    """Answers GET requests; everything else is the receiver's."""

    receiver: App
    state: State
    token: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or path.startswith("/v1/"):
            await self.receiver(scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(
                send, 405, {"error": "only GET here; OTLP goes to /v1/traces, /v1/logs and /v1/metrics by POST"}, {"allow": "GET"}
            )
        elif self.token and path not in _OPEN and not _has_token(scope, self.token):
            await _answer(send, 401, {"error": "expected Authorization: Bearer TOKEN"}, {"www-authenticate": "Bearer"})
        else:
            await _answer(send, *await self._page(path))

    async def _page(self, path: str) -> tuple[int, Any]:
        try:
            return await self._found(path)
        except OtelEvalError as error:
            return 503, {"error": str(error)}

    async def _found(self, path: str) -> tuple[int, Any]:
        if path == "/healthz":
            return 200, {"status": "alive"}
        if path == "/readyz":
            missing = self.state.missing()
            return (503, {"status": "not ready", "missing": missing}) if missing else (200, {"status": "ready"})
        if path == "/status":
            return 200, await asyncio.to_thread(self.state.status)
        if path == "/outcomes":
            return 200, {"outcomes": await asyncio.to_thread(self.state.outcomes)}
        if path == "/recent":
            return 200, {"recent": list(self.state.recent)}
        if path.startswith(_EXPLAIN) and len(path) > len(_EXPLAIN):
            return await asyncio.to_thread(self._explain, unquote(path.removeprefix(_EXPLAIN)))
        return 404, {"error": "there are /healthz, /readyz, /status, /outcomes, /recent and /explain/ID"}

    def _explain(self, any_id: str) -> tuple[int, Any]:
        store = self.state.store
        records = store.records.find(any_id)
        if not records:
            return 404, {"error": "no trace, conversation or result of this id is known: it never came here, or store.keep is over"}
        return 200, {"units": [explanation(record, self.state.plan.limits, store.now_s()) for record in records]}


def _has_token(scope: Scope, token: str) -> bool:
    headers: Sequence[tuple[bytes, bytes]] = scope.get("headers", ())
    given = next((value for name, value in headers if name.lower() == b"authorization"), b"")
    return hmac.compare_digest(given, f"Bearer {token}".encode())


async def _answer(send: Send, status: int, told: Any, headers: dict[str, str] | None = None) -> None:
    body = json.dumps(told, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n"
    pairs = {"content-type": "application/json", "content-length": str(len(body)), "cache-control": "no-store", **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": [(k.encode(), v.encode()) for k, v in pairs.items()]})
    await send({"type": "http.response.body", "body": body})
