"""The store's time."""

from tests.fakes.stores import START_S, Time


def test_time_goes_with_the_uptime() -> None:
    """Seconds pass as the machine runs, beginning at its clock."""
    time = Time()
    clock = time.clock()
    assert clock.now_s() == START_S
    time.pass_s(2.5)
    assert clock.now_s() == START_S + 2.5


def test_a_jump_of_the_machines_clock_changes_nothing() -> None:
    """A clock set back or forward while the process runs does not move the store's time; how far they are apart is told."""
    time = Time()
    clock = time.clock()
    time.wall_s -= 3600
    assert clock.now_s() == START_S
    assert clock.ahead_s() == 3600
    time.wall_s += 7200
    assert clock.now_s() == START_S


def test_it_goes_on_from_a_later_moment() -> None:
    """A moment that was seen before is taken up; an earlier one changes nothing."""
    clock = Time().clock()
    clock.not_before(START_S + 30)
    assert clock.now_s() == START_S + 30
    clock.not_before(START_S - 30)
    assert clock.now_s() == START_S + 30
