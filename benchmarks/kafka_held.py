"""What a trace costs a worker while its conversation is open: memory and CPU of holding it, not of scoring it.

    python benchmarks/kafka_held.py [--traces 3000]

Traces of ten spans (25 kB of protobuf), each a message of the topic of conversations, are put into a worker's store in memory. Told are the
store's own count of bytes and the growth of the process (Linux), for each trace.
"""

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.kafka_scaling import messages  # noqa: E402  # the path is set above
from otel_eval.completion import CompletionLimits  # noqa: E402  # as above
from otel_eval.dialects import BUILTIN  # noqa: E402  # as above
from otel_eval.kafka.offsets import Offsets  # noqa: E402  # as above
from otel_eval.kafka.positions import Positions  # noqa: E402  # as above
from otel_eval.kafka.records import Place, Record  # noqa: E402  # as above
from otel_eval.otlp.receive.reader import EnvelopeReader  # noqa: E402  # as above
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects  # noqa: E402  # as above
from otel_eval.service.worker.holding import Holder  # noqa: E402  # as above
from otel_eval.service.worker.routing import CONVERSATION, SIGNAL, WHOLE  # noqa: E402  # as above
from otel_eval.store import Store  # noqa: E402  # as above

PLACE = Place("talks", 0)


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--traces", type=int, default=3000)
    count = parser.parse_args().traces
    made = messages(count, seed=1)
    store, positions = Store(None), Positions()
    positions.begin(PLACE, Offsets(0, 0))
    keeper = Keeper(store, CompletionLimits())
    holder = Holder(store=store, keeper=keeper, reader=EnvelopeReader(keys_of_dialects(BUILTIN)), positions=positions, keep_s=1e9)
    used, grown, cpu = store.used_bytes, rss_bytes(), time.process_time()
    for offset, (first, second) in enumerate(zip(made[::2], made[1::2], strict=True)):
        positions.read(PLACE, offset)
        headers = {SIGNAL: b"traces", WHOLE: b"1", CONVERSATION: first.key or b""}
        holder.take(Record(place=PLACE, offset=offset, value=first.value + second.value, headers=headers))
        if offset % 200 == 0:
            store.settled().result()
    store.settled().result()
    cpu = time.process_time() - cpu
    print("| traces | store, kB a trace | process, kB a trace | CPU ms a trace |\n|---|---|---|---|")
    kb = [(store.used_bytes - used) / count / 1000, (rss_bytes() - grown) / count / 1000]
    print(f"| {count} | {kb[0]:.1f} | {kb[1]:.1f} | {cpu / count * 1000:.2f} |")
    store.close()


if __name__ == "__main__":
    main()
