"""Which conversations look like failures, and how many of them are taken."""

import random
from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.model import Conversation
from otel_eval.triage import LEAST_SEEN, MOST_SERVICES, Rolling, Triage, flags_of
from tests.fakes.conversations import calls, conversation, result, says, user

GOOD = conversation(user("Book a table for two."), calls(("book", {"n": 2})), result("ok"), says("Done."))


@pytest.mark.parametrize(
    ("messages", "flags"),
    [
        (GOOD.messages, ()),
        ((user("Hi"), calls(("book", {})), result("Error: timeout", is_error=True), says("Sorry.")), ("last_call_failed", "tool_errors")),
        ((user("Hi"), calls(("find", {})), result("[]"), says("None.")), ("empty_results",)),
        ((user("Where is my order?"), says("Soon."), user("Where is my order?!"), says("Soon.")), ("user_repeats",)),
        ((user("Hi"), says("Hello"), user("And now?")), ("unanswered_end",)),
        ((user("Go"), *[m for _ in range(3) for m in (calls(("a", {"x": 1})), result("ok"))], says("Done.")), ("repeated_calls",)),
        ((user("Go"), *[m for n in range(6) for m in (calls(("a", {"x": n})), result("ok"))], says("Done.")), ("long_tool_run",)),
        ((user("You are useless, I want a refund!"), says("I am sorry, I cannot do that.")), ()),
        ((), ()),
    ],
)
def test_flags(messages: tuple[object, ...], flags: tuple[str, ...]) -> None:
    """Execution raises flags; words of frustration, apology and refusal do not."""
    assert flags_of(replace(GOOD, messages=messages)) == flags  # type: ignore[arg-type]  # messages they are


def long(length: int) -> Conversation:
    """Nobody repeats anything, and the agent has the last word."""
    words = [sha256(str(n).encode()).hexdigest() for n in range(length)]
    return conversation(*[user(word) if n % 2 == length % 2 else says(word) for n, word in enumerate(words)])


def test_length_counts_within_the_service_once_enough_were_seen() -> None:
    """A length says nothing before a hundred conversations of the service; then the longest have the highest scores."""
    triage = Triage(0.2)
    assert triage.look(GOOD, "shop").percentile is None
    for number in range(LEAST_SEEN):
        triage.look(long(2 + number % 10), "shop")
    assert triage.look(long(40), "shop").score == 1.0
    assert triage.look(long(2), "shop").score < 0.2
    assert triage.look(long(40), "other").percentile is None


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(0, 20))
def test_a_rolling_percentile_is_that_of_the_window(values: list[int], asked: int) -> None:
    """After any sequence the percentile is the one that sorting the latest values gives."""
    rolling = Rolling(10)
    for value in values:
        rolling.add(value)
    window = values[-10:]
    assert len(rolling) == len(window)
    wanted = (sum(v < asked for v in window) + sum(v <= asked for v in window)) / 2 / len(window)
    assert rolling.percentile(asked) == pytest.approx(wanted)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_triage_keeps_to_its_share(share: float, rate: float) -> None:
    """Of what is judged at most the share is triage, and what is taken is worse than what is not."""
    luck = random.Random(3)
    triage = Triage(share)
    estimated, taken, left = 0, [], []
    for number in range(3000):
        suspicion = triage.look(long(2 + int(luck.expovariate(0.2))), "shop")
        if luck.random() < rate:
            triage.estimated()
            estimated += 1
        elif triage.reason(suspicion) is not None:
            taken.append(suspicion.score)
        elif number > 500:
            left.append(suspicion.score)
    assert len(taken) <= share / (1 - share) * estimated + 1
    assert len(taken) >= 0.7 * share / (1 - share) * estimated - 1
    assert sum(taken) / len(taken) > sum(left) / len(left) + 0.2


def test_nothing_suspicious_is_never_taken() -> None:
    """Without a flag and before lengths say anything, nothing is taken, whatever the credit."""
    triage = Triage(0.5)
    for _ in range(50):
        triage.estimated()
        assert triage.reason(triage.look(GOOD, "shop")) is None


def test_services_without_end_do_not_fill_the_memory() -> None:
    """Lengths are remembered of the services seen last; one that is seen all along keeps its own."""
    triage, talk = Triage(0.2), conversation(user("Hi"), says("Hello"))
    for number in range(LEAST_SEEN + MOST_SERVICES):
        triage.look(talk, "always")
        triage.look(talk, f"made up {number}")
    assert triage.look(talk, "always").percentile is not None
    assert triage.look(talk, "made up 1").percentile is None
    assert len(triage._lengths) == MOST_SERVICES
