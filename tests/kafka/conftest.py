"""One real broker for all tests of a file; each test has topics of its own."""

from collections.abc import Iterator

import pytest

from tests.fakes.broker import Broker


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that runs."""
    with Broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running
