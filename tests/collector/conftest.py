"""Everything here needs the Collector of our manifest."""

import pytest

from tests.fakes.collector import program


@pytest.fixture(autouse=True)
def collector_is_built() -> None:
    """Skipped, or failed in CI, before anything else is started."""
    program()
