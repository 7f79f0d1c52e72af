"""A request that holds many traces is decoded once, however large it is."""

import asyncio

from otel_eval.model import Batch
from otel_eval.service.serve.reading import KEPT_BYTES, TraceReader, batch_from_stored
from otel_eval.store import Body
from tests.fakes.bench import Bench
from tests.fakes.spans import chat, says, trace_id, user


def test_a_large_request_is_decoded_once() -> None:
    """Read trace by trace, a request above the limit of what is kept is decoded at the first of them alone."""
    words, decoded = "word " * (KEPT_BYTES // 20), []

    def counting(body: Body) -> Batch:
        decoded.append(body.id)
        return batch_from_stored(body)

    async def told() -> None:
        bench = Bench()
        await bench.send(*(chat(n, [user(words)], says(f"answer {n}"), trace=n) for n in range(1, 7)))
        reader = TraceReader(bench.store, batch_of=counting)
        for number in range(1, 7):
            (conversation,) = reader.read((trace_id(number),)).conversations
            assert conversation.messages[-1].text == f"answer {number}"
        bench.close()

    asyncio.run(told())
    assert len(decoded) == 1
