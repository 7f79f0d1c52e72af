"""A judge's endpoint on loopback that speaks the wire and misbehaves as told.

    async with JudgeServer([{"status": 429, "headers": {"Retry-After": "2"}, "json": {…}}, verdict({...})]) as server:
        judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.url))

Each request gets the next reply; the last one repeats. A reply has `status`, `headers` and `json` or `text`; `delay_s` waits before the
first byte, `trickle_s` sends the body slowly, `hang` never answers, `reset` breaks off (`after` bytes of the body), `function` makes the
reply out of the request.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeAlias

Reply: TypeAlias = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]


def completion(content: Any, *, finish: str = "stop", prompt_tokens: int = 900, **message: Any) -> dict[str, Any]:
    """A 200 answer of the usual shape."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 60, "total_tokens": prompt_tokens + 60}
    return {"status": 200, "json": {"model": "fake-1", "choices": [choice], "usage": usage}}


def verdict(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A 200 answer with this object as its text."""
    return completion(json.dumps(answer))


def reached(request: Mapping[str, Any]) -> dict[str, Any]:
    """A 200 answer to a question on goal accuracy: each request of the user was met."""
    schema = request["response_format"]["json_schema"]["schema"]
    names = schema["properties"]["requests"]["items"]["properties"]["request"]["enum"]
    rows = [{"request": n, "same_as": "", "goal": "a goal", "reason": "It was done.", "evidence": [0], "status": "reached"} for n in names]
    return verdict({"requests": rows, "certainty": "clear"})


class JudgeServer:
    """Serves `/v1/chat/completions` (any path, in fact). `requests` are the parsed bodies, `times` when each came."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self._connections: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._connections:
            writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def waits(self) -> list[float]:
        """Seconds between one request and the next."""
        return [b - a for a, b in zip(self.times, self.times[1:], strict=False)]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(writer)
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the server was told to
        finally:
            self._connections.discard(writer)
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        lines = head.split("\r\n")[1:]
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = json.loads(body) if body else {}
        self.requests.append(request)
        self.headers.append(headers)
        self.times.append(time.monotonic())
        reply = self._replies[min(len(self.requests), len(self._replies)) - 1]
        return await self._answer(reply(request) if callable(reply) else reply, writer)

    async def _answer(self, reply: Mapping[str, Any], writer: asyncio.StreamWriter) -> bool:
        if reply.get("hang"):
            await asyncio.sleep(3600)
        await asyncio.sleep(reply.get("delay_s", 0))
        body = _body(reply)
        writer.write(_head(reply, len(body)))
        if reply.get("reset"):
            writer.write(body[: reply.get("after", 0)])
            writer.transport.abort()
            return False
        await _send(body, writer, reply.get("trickle_s", 0))
        return True


async def _send(body: bytes, writer: asyncio.StreamWriter, trickle_s: float) -> None:
    step = max(1, len(body) // 20) if trickle_s else len(body) or 1
    for start in range(0, len(body), step):
        writer.write(body[start : start + step])
        await writer.drain()
        await asyncio.sleep(trickle_s)
    await writer.drain()


def _body(reply: Mapping[str, Any]) -> bytes:
    if "text" in reply:
        return str(reply["text"]).encode()
    return json.dumps(reply.get("json", {})).encode()


def _head(reply: Mapping[str, Any], size: int) -> bytes:
    headers = {
        "Content-Type": "text/plain" if "text" in reply else "application/json",
        "Content-Length": str(size),
        **reply.get("headers", {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {reply.get('status', 200)} Status\r\n{lines}\r\n".encode()


@contextmanager
def judge_server(replies: Sequence[Reply]) -> Iterator[JudgeServer]:
    """The same server on a loop of its own, for code that runs its own loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = JudgeServer(replies)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
