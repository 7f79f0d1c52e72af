"""A process that uses a store until it is killed: it writes a line for everything that was acknowledged, and nothing before.

python -m tests.fakes.store_victim STORE LOG SEED
"""

import os
import random
import sys
import threading
from pathlib import Path

from otel_eval.judges.ledger import Amount
from otel_eval.judges.settings import Limits
from otel_eval.store import Outgoing, ResultRow, Store, Work
from tests.fakes.stores import arrival, finished, open_store, request


def main() -> None:
    """Receive, score and send at once, as a server does."""
    store, log, seed = open_store(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3])
    out = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for target in (receive, score, send):
        threading.Thread(target=target, args=(store, out, random.Random(seed)), daemon=True).start()
    os.write(out, b"ready\n")
    threading.Event().wait()


def say(out: int, *words: object) -> None:
    """One line, in one write: a kill cuts none in half."""
    os.write(out, (" ".join(map(str, words)) + "\n").encode())


def receive(store: Store, out: int, chance: random.Random) -> None:
    """Put requests in, some waited for one by one, some in bursts."""
    while True:
        numbers = [chance.randrange(1, 10**9) for _ in range(chance.choice([1, 1, 8]))]
        futures = [
            (n, store.put_request(request(arrival(n, due_s=store.now_s()), body=b"%d" % n * chance.choice([1, 500, 5000]))))
            for n in numbers
        ]
        for number, future in futures:
            future.result()
            say(out, "kept", number)


def score(store: Store, out: int, chance: random.Random) -> None:
    """Take due traces through the queue, with a reservation for each judgement, and finish them."""
    ledger = store.ledger(Amount, run="victim")
    while True:
        for row in store.progress.due_traces(store.now_s(), limit=20):
            store.queues.add([Work(unit=row.unit, revision=row.revision + 1, queue="estimate", seen_s=row.last_s)]).result()
        for work in store.queues.claim("estimate", limit=20).result():
            number = int(work.unit.key, 16)
            reservation = ledger.reserve(Amount(tokens=1), Limits())
            say(out, "asked", number)
            if reservation is not None and chance.random() < 0.5:
                ledger.settle(reservation, Amount(tokens=1))
            done = finished(
                work.unit,
                store,
                revision=work.revision,
                seen_s=work.seen_s,
                results=(ResultRow(id=f"{number}/{work.revision}", metric="m", outcome="score", data="{}"),),
                outgoing=(Outgoing(sink="far", payload=b"%d" % number),),
                release=(work.unit.key,),
                release_at_s=store.now_s() + chance.choice([-1.0, 3600.0]),
            )
            if store.queues.finish(done).result():
                say(out, "finished", number)


def send(store: Store, out: int, chance: random.Random) -> None:
    """Send letters; one of three is refused for now."""
    while True:
        letters = store.outbox.take("far", limit=10)
        for letter in letters:
            say(out, "sent", letter.payload.decode())
        refused = [letter for letter in letters if chance.random() < 0.3]
        store.outbox.sent([letter for letter in letters if letter not in refused]).result()
        store.outbox.try_again(refused, at_s=store.now_s() + 0.01).result()


if __name__ == "__main__":
    main()
