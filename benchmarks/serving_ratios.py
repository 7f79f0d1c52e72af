"""What holds of `serve` on any machine, measured in this process: for `ratios.py`."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from statistics import median

from benchmarks.sending import bodies
from benchmarks.serving_growth import remember
from otel_eval.otlp.receive.encoding import PROTOBUF
from otel_eval.store import Arrival, NewRequest, Store
from tests.fakes.bench import Bench

ROUNDS = 5
_QUIET_S = 10.0
FEW_ROWS, MANY_ROWS = 1_000, 100_000
_REQUESTS, _TRACES = 50, 20


def sampled_out() -> float:
    """Processor time of requests that sampling leaves out, from their arrival to their outcomes, over that of the same ones scored."""
    requests = bodies(requests=5, turns=10)
    out, scored = {"selection__rate": 0, "selection__triage_share": 0}, {"metrics": ["unanswered_turn"]}
    return _median_ratio(lambda: _served_s(requests, **out), lambda: _served_s(requests, **scored))


def _served_s(requests: list[bytes], **settings: object) -> float:
    async def serve(path: Path) -> float:
        quiet = {"completion__trace_quiet": f"{_QUIET_S:g}s", "completion__conversation_idle": f"{_QUIET_S:g}s"}
        bench = Bench(path=path, **{**quiet, **settings})
        began_s = time.process_time()
        for body in requests:
            await bench.intake("traces", body, PROTOBUF)
        for _ in range(2):
            await bench.after(_QUIET_S + 0.01)
        taken_s = time.process_time() - began_s
        bench.close()
        return taken_s

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(serve(Path(folder) / "store.db"))


def rows_growth() -> float:
    """Processor time of keeping requests in a store that remembers a hundred thousand traces, over that of a thousand."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stores: list[Store] = []
        for rows in (MANY_ROWS, FEW_ROWS):
            remember(Path(folder) / f"{rows}.db", rows)
            stores.append(stack.enter_context(Store(Path(folder) / f"{rows}.db")))
        numbers = count()
        many, few = (lambda store=store: _kept_s(store, numbers) for store in stores)  # type: ignore[misc]  # bound now
        return _median_ratio(many, few)


def _kept_s(store: Store, numbers: Iterator[int]) -> float:
    requests = [_request(number) for number in islice(numbers, _REQUESTS)]
    began_s = time.process_time()
    for kept in [store.put_request(request) for request in requests]:
        kept.result()
    return time.process_time() - began_s


def _request(number: int) -> NewRequest:
    """A request of new traces, each of a conversation of its own; ids are scattered as real ones are."""
    ids = [f"{(number * _TRACES + place + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}" for place in range(_TRACES)]
    arrivals = tuple(Arrival(trace_id=i, spans=10, root_ended=True, is_genai=True, conversations=(i,), due_s=2e9) for i in ids)
    return NewRequest(signal="traces", encoding="protobuf", body=b"x" * 50_000, arrivals=arrivals)


def _median_ratio(one: Callable[[], float], other: Callable[[], float]) -> float:
    """The median of the ratios of rounds in which both run in turn; what the first run of all loads is not counted."""
    other()
    return median(one() / other() for _ in range(ROUNDS))
