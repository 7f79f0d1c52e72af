"""How large the commit's metadata gets: finished offsets above the floor of one partition of the topic of conversations.

    python benchmarks/floor_bitmap.py [--seed 1]

Conversations begin at random; each is three traces, two minutes apart on average, and is finished when `completion.conversation_idle`
(15 minutes) after its last trace is over. What is told is the largest metadata in an hour, once the partition has warmed up. A broker takes
4,095 bytes, a worker plans with 4,000 and stops reading a partition at 3,000.
"""

import argparse
import heapq
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from otel_eval.kafka.offsets import Offsets

TRACES, GAP_S, IDLE_S = 3, 120.0, 900.0
WARM_S, END_S, EVERY_S = 3600.0, 7200.0, 60.0


def messages(rate: float, luck: random.Random) -> list[tuple[float, float]]:
    """When each message is written and when it is finished, in the order of the partition."""
    made: list[tuple[float, float]] = []
    at_s = 0.0
    while at_s < END_S:
        at_s += luck.expovariate(rate / TRACES)
        times = [at_s]
        while len(times) < TRACES:
            times.append(times[-1] + luck.expovariate(1 / GAP_S))
        made += [(time_s, times[-1] + IDLE_S) for time_s in times]
    return sorted(made)


def largest(rate: float, seed: int) -> tuple[int, int]:
    """Bytes of metadata, and offsets between floor and end, at their largest."""
    offsets, finishing, next_s = Offsets(0, 0), list[tuple[float, int]](), WARM_S
    size = width = 0
    for offset, (at_s, end_s) in enumerate(messages(rate, random.Random(seed))):
        while finishing and finishing[0][0] <= at_s:
            offsets.finish(heapq.heappop(finishing)[1])
        offsets.read(offset)
        heapq.heappush(finishing, (end_s, offset))
        if at_s >= next_s:
            next_s += EVERY_S
            size, width = max(size, len(offsets.metadata())), max(width, offsets.width)
    return size, width


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    print("| traces a second, one partition | metadata, bytes | floor to end, offsets |\n|---|---|---|")
    for rate in (1, 5, 10, 20, 30, 40):
        size, width = largest(rate, seed)
        print(f"| {rate} | {size:,} | {width:,} |")


if __name__ == "__main__":
    main()
