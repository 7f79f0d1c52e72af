"""otel-eval behind a Collector in the states that it may be in: as it should be, and in each kind of trouble.

with MODES["hanging"](folder, port):
    ... a Collector that sends to 127.0.0.1:port ...
"""

import random
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.fakes.bench import otlp_json
from tests.fakes.serving import Server
from tests.fakes.spans import agent, chat, says, user

SIGNALS = ["turn_count", "tool_error_rate"]
QUEUE_FULL = "queue full"
"""It hangs, and the Collector's queue before it is too small: set `OTEL_EVAL_QUEUE_BYTES`."""


@contextmanager
def answering(folder: Path, port: int) -> Iterator[None]:
    """otel-eval as it should be."""
    with Server(folder, receive__grpc__endpoint=f"127.0.0.1:{port}", metrics=SIGNALS):
        yield


@contextmanager
def absent(folder: Path, port: int) -> Iterator[None]:
    """Nobody listens."""
    yield


@contextmanager
def hanging(folder: Path, port: int) -> Iterator[None]:
    """otel-eval is stopped in the middle: its socket takes connections and nothing answers."""
    with Server(folder, receive__grpc__endpoint=f"127.0.0.1:{port}", metrics=SIGNALS) as server:
        server.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            server.process.send_signal(signal.SIGCONT)


@contextmanager
def refusing(folder: Path, port: int) -> Iterator[None]:
    """otel-eval answers that its store is full."""
    words = random.Random(1).randbytes(100_000).hex()  # as large packed as anything can be
    settings = {"store__max_bytes": "6MiB", "completion__trace_quiet": "1h", "completion__trace_max_age": "1h", "metrics": SIGNALS}
    with Server(folder, receive__grpc__endpoint=f"127.0.0.1:{port}", **settings) as server:
        for number in range(1, 200):
            call = chat(1, [user("Hi")], says(words + str(number)), trace=number, parent=9)
            if server.post("traces", otlp_json([call, agent(9, "clerk", trace=number)]), json_body=True) == 503:
                break
        assert server.get("/readyz")[0] == 503
        yield


MODES: Mapping[str, Callable[[Path, int], AbstractContextManager[None]]] = {
    "answering": answering,
    "absent": absent,
    "hanging": hanging,
    "refusing": refusing,
    QUEUE_FULL: hanging,
}
