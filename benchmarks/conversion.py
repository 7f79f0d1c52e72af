"""What the conversion of OTLP bodies to conversations costs, beside floor A of the same run.

    python benchmarks/conversion.py

Prints, for traces of 10, 100 and 400 spans whose inputs repeat the history, the CPU time a span of reading the body, of reading it
as OTLP/JSON, and of the whole conversion, in floors A too (README); then how time and memory grow when the input grows four times.
"""

import gc
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.floor import plain_spans
from benchmarks.generate import json_of, request_of
from benchmarks.measuring import Timing, timings
from benchmarks.shapes import BY_SIZE, BY_WIRE, Shape
from otel_eval.otlp.decode import batch_from_traces
from otel_eval.otlp.otlp_json import batch_from_json
from otel_eval.service.convert import Conversion, conversations_from_batches

SIZES = (10, 100, 400)
"""Spans a trace."""

_SPANS = 400
"""Spans a request: forty traces of 10, four of 100, one of 400."""

Run: TypeAlias = Callable[[], object]


def conversion(body: bytes) -> Conversion:
    """The whole way: protobuf bytes to conversations."""
    return conversations_from_batches([batch_from_traces(body)])


def variants(spans: int) -> dict[str, Run]:
    """What is measured on one request of traces of so many spans."""
    request = request_of(traces=_SPANS // spans, spans=spans)
    body, text = request.SerializeToString(), json_of(request)
    return {
        "floor A": lambda: plain_spans(body),
        "protobuf to spans": lambda: batch_from_traces(body),
        "JSON to spans": lambda: batch_from_json(text),
        "protobuf to conversations": lambda: conversion(body),
        "JSON to conversations": lambda: conversations_from_batches([batch_from_json(text)]),
    }


def costs(spans: int, *, base: str = "floor A", rounds: int = 7) -> dict[str, Timing]:
    """The timings of all variants on traces of so many spans."""
    return timings(variants(spans), base=base, rounds=rounds)


def growth(shape: Shape, n: int, *, rounds: int = 5) -> tuple[float, float]:
    """(t(4n) / t(n), wire bytes of 4n / those of n) of the whole conversion."""
    small, large = shape(n), shape(4 * n)
    timed = timings({"n": lambda: conversion(small), "4n": lambda: conversion(large)}, base="n", rounds=rounds)
    return timed["4n"].ratio, len(large) / len(small)


def memory(shape: Shape, n: int) -> float:
    """Bytes of memory at the peak of the conversion, a byte on the wire; the body itself is not counted."""
    body = shape(n)
    conversion(body)
    gc.collect()
    tracemalloc.start()
    conversion(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / len(body)


def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}; medians of ratios to floor A, ± half the quartile distance\n")
    print(f"{'':<28}" + "".join(f"{f'{n} spans':>22}" for n in SIZES))
    found = {n: costs(n) for n in SIZES}
    for name in found[SIZES[0]]:
        print(f"{name:<28}" + "".join(_cell(found[n][name]) for n in SIZES))
    print(f"\n{'input four times as large':<28}{'time':>8}{'wire':>8}{'memory a wire byte, n and 4n':>32}")
    for name, (shape, n) in {**BY_WIRE, **BY_SIZE}.items():
        time, wire = growth(shape, n)
        print(f"{f'{name}, n = {n}':<28}{time:>8.1f}{wire:>8.1f}{f'{memory(shape, n):.1f}  {memory(shape, 4 * n):.1f}':>32}")


def _cell(timing: Timing) -> str:
    return f"{timing.seconds / _SPANS * 1e6:>8.1f} µs {timing.ratio:>5.2f} ±{timing.spread:.2f}"


if __name__ == "__main__":
    main()
