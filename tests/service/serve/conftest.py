"""What tests of serve share."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.bench import Bench


@pytest.fixture
def bench() -> Iterator[Callable[..., Bench]]:
    """Makes benches, and closes them at the end of the test."""
    made: list[Bench] = []

    def make(**settings: Any) -> Bench:
        made.append(Bench(**settings))
        return made[-1]

    yield make
    for each in made:
        each.close()
