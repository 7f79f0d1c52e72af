"""Open files: as many as the system allows, and connections so many that files are left."""

import resource
from collections.abc import Callable

import pytest

from otel_eval.service.serve.files import most_connections, raise_limit

INFINITE = resource.RLIM_INFINITY


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[tuple[int, int]]]:
    """Pretends limits of the system; what is set is remembered."""

    def pretend(soft: int, hard: int) -> list[tuple[int, int]]:
        changed: list[tuple[int, int]] = []
        monkeypatch.setattr(resource, "getrlimit", lambda what: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda what, pair: changed.append(pair))
        return changed

    return pretend


@pytest.mark.parametrize(
    ("soft", "hard", "changed"),
    [
        (1024, 524_288, [(65_536, 524_288)]),
        (1024, 4096, [(4096, 4096)]),
        (1024, INFINITE, [(65_536, INFINITE)]),
        (100_000, 200_000, []),
        (4096, 4096, []),
        (INFINITE, INFINITE, []),
    ],
)
def test_the_limit_is_raised(
    limits: Callable[[int, int], list[tuple[int, int]]], soft: int, hard: int, changed: list[tuple[int, int]]
) -> None:
    """To what the system lets this process have, and never lowered."""
    seen = limits(soft, hard)
    raise_limit()
    assert seen == changed


@pytest.mark.parametrize(("files", "connections"), [(65_536, 1000), (INFINITE, 1000), (1024, 768), (400, 100), (60, 15), (3, 1)])
def test_connections_leave_files(limits: Callable[[int, int], list[tuple[int, int]]], files: int, connections: int) -> None:
    """A thousand, fewer where files are few, never none."""
    limits(files, files)
    assert most_connections() == connections
