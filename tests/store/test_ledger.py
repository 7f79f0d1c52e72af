"""The judge's books in the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import OtelEvalError
from otel_eval.judges.ledger import Amount, Ledger, SqliteLedger
from otel_eval.judges.settings import Limits
from otel_eval.store import Store
from tests.fakes.stores import START_S, Time, open_store


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(tmp_path: Path, time: Time) -> Iterator[Store]:
    with open_store(tmp_path / "store.db", time) as made:
        yield made


TEN = Amount(tokens=10, usd=0.1)


def test_it_is_a_ledger(store: Store) -> None:
    """It is what judges take for a ledger, and gives their own amounts."""
    ledger: Ledger = store.ledger(Amount)
    assert ledger.reserve(TEN, Limits()) == 1
    assert ledger.spent(since=0) == TEN


@pytest.mark.parametrize(
    ("limits", "after_s", "again"),
    [
        (Limits(minute_tokens=15), 61, True),
        (Limits(minute_usd=0.15), 61, True),
        (Limits(day_tokens=15), 61, False),
        (Limits(day_usd=0.15), 86_400, True),
        (Limits(run_tokens=15), 3 * 86_400, False),
        (Limits(run_usd=0.15), 3 * 86_400, False),
    ],
)
def test_no_limit_is_passed(store: Store, time: Time, limits: Limits, after_s: float, again: bool) -> None:
    """What would go beyond a limit is refused; a minute and a day end, a run does not."""
    ledger = store.ledger(Amount)
    assert ledger.reserve(TEN, limits) is not None
    assert ledger.reserve(TEN, limits) is None
    time.pass_s(after_s)
    assert (ledger.reserve(TEN, limits) is not None) == again


def test_what_it_took_takes_the_place_of_what_was_reserved(store: Store) -> None:
    """Settling gives back what was not used; settling twice or something unknown changes nothing."""
    ledger = store.ledger(Amount)
    number = ledger.reserve(TEN, Limits(run_tokens=10))
    assert number is not None
    ledger.settle(number, Amount(tokens=4, usd=0.05))
    ledger.settle(99, Amount(tokens=4, usd=0.05))
    store.settled().result()
    assert ledger.spent(since=START_S - 1) == Amount(tokens=4, usd=0.05)
    assert ledger.reserve(Amount(tokens=6), Limits(run_tokens=10)) is not None
    assert ledger.reserve(Amount(tokens=1), Limits(run_tokens=10)) is None


def test_a_restart_goes_on_counting(tmp_path: Path, time: Time) -> None:
    """A run under the same name counts on, with what was never settled in full; another run shares the minute and the day only."""
    path = tmp_path / "other.db"
    with open_store(path, time) as store:
        store.ledger(Amount, run="a").reserve(TEN, Limits())
    with open_store(path, time) as store:
        assert store.ledger(Amount, run="a").reserve(TEN, Limits(run_tokens=15)) is None
        assert store.ledger(Amount, run="b").reserve(TEN, Limits(day_tokens=15)) is None
        assert store.ledger(Amount, run="b").reserve(TEN, Limits(run_tokens=15)) is not None


def test_old_entries_become_one_sum(tmp_path: Path, time: Time) -> None:
    """Books do not grow with the days: what no window counts any more is one row a run, and still counts for the run."""
    path = tmp_path / "other.db"
    for _ in range(3):
        with open_store(path, time) as store:
            ledger = store.ledger(Amount, run="a")
            for _ in range(4):
                ledger.reserve(TEN, Limits())
            assert store._access.row("SELECT count(*) FROM ledger") == (4,)
        time.pass_s(3 * 86_400)
    with open_store(path, time) as store:
        spent = store.ledger(Amount, run="a").spent_in_run()
        assert (spent.tokens, round(spent.usd, 6)) == (120, 1.2)


def test_all_ledgers_of_a_store_count_together(store: Store) -> None:
    """Two judges with books in one store see each other's reservations, and never the same number."""
    first, second = store.ledger(Amount, run="a"), store.ledger(Amount, run="b")
    assert first.reserve(TEN, Limits(day_tokens=15)) != second.reserve(Amount(tokens=5), Limits(day_tokens=15))
    assert second.reserve(Amount(tokens=1), Limits(day_tokens=15)) is None


def test_a_reservation_that_cannot_be_written_is_none(store: Store) -> None:
    """Where the books cannot be written nothing is granted, and nothing counts as reserved."""
    ledger = store.ledger(Amount)
    store._access.write(lambda db: db.execute("CREATE TRIGGER deaf BEFORE INSERT ON ledger BEGIN SELECT raise(FAIL, 'x'); END")).result()
    with pytest.raises(OtelEvalError):
        ledger.reserve(TEN, Limits(run_tokens=10))
    store._access.write(lambda db: db.execute("DROP TRIGGER deaf")).result()
    assert ledger.reserve(TEN, Limits(run_tokens=10)) is not None


STEP = st.tuples(st.sampled_from(["reserve", "settle", "wait"]), st.integers(0, 12), st.integers(0, 40_000))


@given(steps=st.lists(STEP, max_size=40))
def test_it_decides_as_the_ledger_in_a_file(steps: list[tuple[str, int, int]]) -> None:
    """For any course of reservations, settlements and hours it grants exactly what the ledger that sums rows grants."""
    time = Time()
    limits = Limits(minute_tokens=20, day_tokens=60, run_tokens=200)
    with open_store(None, time) as store:
        ours, theirs = store.ledger(Amount), SqliteLedger(clock=lambda: time.wall_s)
        granted: list[tuple[int, int]] = []
        for what, tokens, seconds in steps:
            amount = Amount(tokens=tokens)
            if what == "wait":
                time.pass_s(seconds)
            elif what == "settle" and granted:
                one, other = granted.pop()
                ours.settle(one, amount)
                theirs.settle(other, amount)
            elif what == "reserve":
                one_, other_ = ours.reserve(amount, limits), theirs.reserve(amount, limits)
                assert (one_ is None) == (other_ is None)
                if one_ is not None and other_ is not None:
                    granted.append((one_, other_))
        theirs.close()
