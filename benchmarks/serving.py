"""What `otel-eval serve` costs under load, beside agentevals-cli 0.11.0 on the same requests in the same run.

    python benchmarks/serving.py [--rounds 3] [--only load,paced,burst,memory,latency,rows,turns,backlog]

The servers run in turns, each as a process of its own on a fresh folder, so that a busy machine hurts both alike; figures are medians of
the rounds' ratios of processor seconds, which /proc gives (Linux). agentevals is installed once, into the user's cache; without it the
comparisons are left out and the growth of our own costs is told all the same. Exits 1 where a goal is missed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from benchmarks.servers import AGENTEVALS, MAKE, agentevals_is_here
from benchmarks.serving_figures import Figure
from benchmarks.serving_growth import backlog, rows, turns
from benchmarks.serving_latency import latency, memory
from benchmarks.serving_load import burst, load, paced

Part: TypeAlias = Callable[[int, bool], Sequence[Figure]]
"""Takes the number of rounds and whether agentevals is here."""

PARTS: Mapping[str, Part] = {
    "load": load,
    "paced": paced,
    "burst": burst,
    "memory": memory,
    "latency": latency,
    "rows": rows,
    "turns": turns,
    "backlog": backlog,
}


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", default=",".join(PARTS), help="parts, by comma")
    told = options.parse_args()
    has_peer = agentevals_is_here()
    if not has_peer:
        print(f"without {AGENTEVALS}: nothing is compared with it. It is made by: {MAKE}")
    print(
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}, {told.rounds} rounds\n", flush=True
    )
    figures: list[Figure] = []
    for name in told.only.split(","):
        for figure in PARTS[name](told.rounds, has_peer):
            print(figure.line, flush=True)
            figures.append(figure)
    missed = sum(figure.holds is False for figure in figures)
    print(f"\n{missed} goals missed, load {os.getloadavg()[0]:.1f}" if missed else f"\nall goals hold, load {os.getloadavg()[0]:.1f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
