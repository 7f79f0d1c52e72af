"""How long conversations wait for a judge: bursts, quotas, outages, crashes and rebalances, at 1 M and 100 M conversations a day.

    python benchmarks/queue_simulation.py [--seed 1]

A simulation in steps of one second over a day, a pure function of the seed; no worker runs. Arrivals follow a day's curve (peak twice the
mean) with noise. Each worker has so many judge calls under way, each of which takes some seconds, and an account allows so many calls a
minute. What waits is served in order of arrival. The age is that of a conversation when its judgement begins, over all judged ones of the
day; the wait for the conversation to be over (`completion.conversation_idle`) comes before it and is not in it.

What happens to workers is taken from the tests with a real broker, at its worst: a killed worker's partitions are silent for the session
timeout, then a rebalance holds everybody for the whole handover, and what the dead worker had under way is judged again. A restart in order
is a rebalance when the worker goes and one when it comes.
"""

import argparse
import math
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

DAY_S = 86_400
SESSION_S, HANDOVER_S = 15, 10
"""`kafka.session_timeout`, `kafka.handover`."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What comes in, and who works."""

    name: str
    day: int
    """Conversations a day."""
    judged: float
    """Share that is judged (`selection.rate`)."""
    workers: int
    concurrency: int
    """Judge calls of one worker at a time, one a conversation."""
    call_s: float = 3.0
    quota_s: float = math.inf
    """Calls a second that the judge's account allows."""

    @property
    def mean(self) -> float:
        """Conversations to judge a second, over the day."""
        return self.day * self.judged / DAY_S

    @property
    def capacity(self) -> float:
        """Calls a second that all workers can make."""
        return self.workers * self.concurrency / self.call_s


@dataclass(kw_only=True)
class Now:
    """What holds in one second; events change it."""

    load: float = 1.0
    """Factor on arrivals."""
    judge: float = 1.0
    """Share of calls that the judge answers."""
    dead: int = 0
    """Workers that do nothing, while others do not know it yet."""
    held: bool = False
    """Whether everybody waits for a rebalance."""
    again: float = 0.0
    """Judgements that are made once more."""


Event = Callable[[int, Load, Now], None]


def burst(second: int, load: Load, now: Now) -> None:
    """Five times the traffic for ten minutes, at noon."""
    if 12 * 3600 <= second < 12 * 3600 + 600:
        now.load *= 5


def outage(second: int, load: Load, now: Now) -> None:
    """The judge answers nothing for half an hour."""
    if 10 * 3600 <= second < 10 * 3600 + 1800:
        now.judge = 0.0


def crashes(second: int, load: Load, now: Now) -> None:
    """A worker is killed every hour, and is back after a minute."""
    since = second % 3600
    if since < SESSION_S:
        now.dead = 1
    elif since < SESSION_S + HANDOVER_S or 60 <= since < 60 + HANDOVER_S:
        now.held = True
    if since == SESSION_S:
        now.again = load.concurrency


def rolling(second: int, load: Load, now: Now) -> None:
    """All workers are restarted one after the other from ten o'clock on, half a minute each."""
    since = second - 10 * 3600
    if 0 <= since < 30 * load.workers and since % 30 % 15 < HANDOVER_S:
        now.held = True


@dataclass
class Day:
    """Ages of judged conversations by how many had them, and what was left."""

    ages: "dict[int, float]" = field(default_factory=dict)
    deepest: float = 0.0
    again: float = 0.0

    def share(self, q: float) -> int:
        """The age that a share of the judged conversations did not exceed, in seconds."""
        wanted, seen = q * sum(self.ages.values()), 0.0
        for age in sorted(self.ages):
            seen += self.ages[age]
            if seen >= wanted:
                return age
        return 0


def simulated(load: Load, events: list[Event], seed: int) -> Day:
    """One day."""
    luck, day = random.Random(seed), Day()
    queue: deque[list[float]] = deque()  # [second of arrival, how many]
    depth = 0.0
    for second in range(2 * DAY_S):  # the second day only drains
        now = Now()
        for event in events:
            event(second % DAY_S, load, now)
        if second < DAY_S:
            count = max(0.0, luck.gauss(mean := arrivals(second, load) * now.load, math.sqrt(mean))) + now.again
            day.again += now.again
            queue.append([second, count])
            depth += count
        elif not queue:
            break
        room = 0.0 if now.held else min(load.capacity * (1 - now.dead / load.workers), load.quota_s) * now.judge
        depth -= served(queue, room, second, day)
        day.deepest = max(day.deepest, depth)
    return day


def arrivals(second: int, load: Load) -> float:
    """Conversations to judge in a second: a curve over the day that is twice its mean at two in the afternoon."""
    return load.mean * (1 + math.cos(2 * math.pi * (second - 14 * 3600) / DAY_S))


def served(queue: "deque[list[float]]", room: float, second: int, day: Day) -> float:
    """Take from the front as much as there is room for; how much."""
    taken = 0.0
    while queue and room - taken > 1e-9:
        since, count = queue[0]
        some = min(count, room - taken)
        taken += some
        age = second - int(since)
        day.ages[age] = day.ages.get(age, 0.0) + some
        if some == count:
            queue.popleft()
        else:
            queue[0][1] -= some
    return taken


SMALL = Load(name="1 M a day, all judged, 2 workers × 40", day=1_000_000, judged=1.0, workers=2, concurrency=40)
LARGE = Load(name="100 M a day, 10 % judged, 32 workers × 24", day=100_000_000, judged=0.1, workers=32, concurrency=24)

SCENARIOS: "list[tuple[str, Callable[[Load], Load], list[Event]]]" = [
    ("the day's curve alone", lambda load: load, []),
    ("five times the traffic for ten minutes", lambda load: load, [burst]),
    ("the judge silent for half an hour", lambda load: load, [outage]),
    ("a worker killed every hour", lambda load: load, [crashes]),
    ("all workers restarted in order", lambda load: load, [rolling]),
    ("a quota of 1.5 × the mean", lambda load: replace(load, quota_s=1.5 * load.mean), []),
    ("a quota of 1.05 × the mean", lambda load: replace(load, quota_s=1.05 * load.mean), []),
    ("everything at once, without a quota", lambda load: load, [burst, outage, crashes, rolling]),
]


def rows(seed: int) -> Iterator[tuple[str, ...]]:
    """The table, a scenario a row."""
    for load in (SMALL, LARGE):
        yield (f"**{load.name}**: {load.mean:.1f}/s, peak {2 * load.mean:.1f}/s, workers can {load.capacity:.1f}/s", "", "", "", "", "")
        for name, change, events in SCENARIOS:
            yield row_of(change(load), (name, events), seed)


def row_of(load: Load, happens: "tuple[str, list[Event]]", seed: int) -> tuple[str, ...]:
    """A scenario: its name, ages, and numbers."""
    name, events = happens
    day = simulated(load, events, seed)
    ages = [told(age) for age in (day.share(0.5), day.share(0.99), max(day.ages))]
    return name, *ages, f"{day.deepest:,.0f}", f"{day.again:,.0f}"


def told(seconds: int) -> str:
    """A time for people."""
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    print("| what happens | age p50 | p99 | largest | most waiting | judged again |\n|---|---|---|---|---|---|")
    for row in rows(seed):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
