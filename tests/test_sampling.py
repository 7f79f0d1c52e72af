"""Which units are judged: the same ones everywhere, with a probability that is true, combined with what was sampled before."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.sampling import SPACE, UNKNOWN, Rules, Upstream, decide, is_kept, randomness_of, upstream_from_tracestate
from tests.fakes.talk import booking

TALK = booking()
WITHOUT_ID = replace(TALK, id=None)


@pytest.mark.parametrize(
    ("tracestate", "probability", "randomness"),
    [
        ("ot=th:8", 0.5, None),
        ("ot=th:c", 0.25, None),
        ("ot=th:0", 1.0, None),
        ("ot=th:fd70a4", pytest.approx(0.01, rel=1e-5), None),
        ("vendor=x, ot=rv:6e6d1a75832a2f;th:8", 0.5, 0x6E6D1A75832A2F),
        ("ot=rv:6e6d1a75832a2f", None, 0x6E6D1A75832A2F),
        ("ot=th:8;rv:123", 0.5, None),  # a random value has 14 digits
        ("ot=th:123456789012345", None, None),
        ("ot=th:G", None, None),
        ("not=th:8", None, None),
        ("", None, None),
    ],
)
def test_what_a_tracestate_says(tracestate: str, probability: Any, randomness: int | None) -> None:
    """Threshold and random value as the OpenTelemetry specification writes them; what is malformed says nothing."""
    found = upstream_from_tracestate(tracestate)
    assert (found.probability, found.randomness) == (probability, randomness)


@given(ids=st.text(max_size=40), salt=st.text(max_size=8), low=st.floats(0, 1), high=st.floats(0, 1))
def test_rates_nest_and_turns_agree(ids: str, salt: str, low: float, high: float) -> None:
    """What a lower rate keeps a higher one keeps, whichever of the conversation's traces is asked about."""
    low, high = sorted((low, high))
    one, other = randomness_of(ids, "ab" * 16, salt), randomness_of(ids, "cd" * 16, salt, Upstream(randomness=5))
    assert one == other
    assert 0 <= one < SPACE
    assert not is_kept(one, low) or is_kept(one, high)


def test_the_ends_of_the_scale() -> None:
    """Rate 1 keeps everything, rate 0 nothing."""
    assert is_kept(0, 1.0)
    assert not is_kept(SPACE - 1, 0.0)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_the_share_that_is_kept_is_the_rate(rate: float) -> None:
    """Of ten thousand conversations as many are kept as the rate says, within four standard errors, with any salt."""
    for salt in ("", "other"):
        kept = sum(is_kept(randomness_of(f"conversation {n}", "", salt), rate) for n in range(10_000))
        assert abs(kept - rate * 10_000) < 4 * (rate * (1 - rate) * 10_000) ** 0.5


def test_another_salt_keeps_others() -> None:
    """Two salts agree no more often than chance."""
    both = sum(is_kept(randomness_of(str(n), "", "a"), 0.5) == is_kept(randomness_of(str(n), "", "b"), 0.5) for n in range(10_000))
    assert abs(both - 5_000) < 200


def test_a_trace_without_id_agrees_with_samplers_of_opentelemetry() -> None:
    """Its randomness is the `rv` of the tracestate, else the last seven bytes of the trace id; a rate keeps what a sampler would keep."""
    assert randomness_of(None, "00" * 9 + "6e6d1a75832a2f", "salt") == 0x6E6D1A75832A2F
    assert randomness_of(None, "00" * 16, "salt", Upstream(randomness=7)) == 7
    threshold = 0x80000000000000
    for randomness in (threshold - 1, threshold):
        assert is_kept(randomness, 0.5) is (randomness >= threshold)


def test_our_rate_is_a_share_of_what_was_kept_before() -> None:
    """Of traces that a sampler kept with a quarter, a rate of a half keeps a half; both probabilities are told."""
    luck, upstream = random.Random(1), Upstream(threshold=SPACE * 3 // 4)
    kept = 0
    for _ in range(4_000):
        trace_id = f"{luck.randrange(SPACE * 3 // 4, SPACE):032x}"
        decision = decide(replace(WITHOUT_ID, trace_ids=(trace_id,)), Rules(rate=0.5), upstream=upstream)
        assert decision.upstream_probability == 0.25
        assert decision.probability == 0.5
        kept += decision.queue == "estimate"
    assert abs(kept - 2_000) < 4 * 1_000**0.5


def test_an_unknown_probability_is_not_one() -> None:
    """Without a tracestate the probability before us is unknown."""
    assert UNKNOWN.probability is None
    assert decide(TALK, Rules()).upstream_probability is None


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"agents": ("other*",)}, "agent"),
        ({"services": ("other",)}, "service"),
        ({"attributes": {"tenant": "a*"}}, "attributes"),
        ({"min_turns": 9}, "min_turns"),
        ({"only_errors": True}, "only_errors"),
    ],
)
def test_filters_say_their_names(rules: dict[str, Any], reason: str) -> None:
    """What a filter leaves out has no queue, no probability, and the filter's name."""
    decision = decide(TALK, Rules(**rules), service="shop", triage_reason="tool_errors")
    assert (decision.queue, decision.probability, decision.reason) == (None, None, reason)


def test_what_is_always_kept_is_triage() -> None:
    """Attributes keep a conversation whatever the rate, in the triage queue, with probability 1; filters go before."""
    talk = replace(TALK, attributes={"tenant": "acme", "plan": "gold"})
    rules = Rules(rate=0.0, always_keep={"tenant": "ac*"})
    kept = decide(talk, rules)
    assert (kept.queue, kept.probability, kept.reason) == ("triage", 1.0, "always_keep")
    assert decide(TALK, rules).reason == "sampled_out"
    assert decide(talk, replace(rules, min_turns=9)).reason == "min_turns"


def test_triage_takes_what_the_rate_left_out() -> None:
    """A suspicion puts what the rate left out into triage, and nothing where its share is 0."""
    assert decide(TALK, Rules(rate=0.0), triage_reason="tool_errors").queue == "triage"
    assert decide(TALK, Rules(rate=0.0, triage_share=0.0), triage_reason="tool_errors").queue is None
    assert decide(TALK, Rules(rate=1.0), triage_reason="tool_errors").queue == "estimate"
