"""Response match: ROUGE-1 in several scripts, turns, and each reason to have no value."""

import pytest

from otel_eval.metrics.porter import stem
from otel_eval.metrics.rouge import rouge_1, tokens
from otel_eval.model import Gap, GapReason, Reference, Score, Skipped, SkipReason, TurnReference
from tests.fakes.conversations import conversation, outcome_of, says, user, value_of

NAME = "response_match"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "tie"), ("cats", "cat"), ("agreed", "agre"), ("plastered", "plaster"),
        ("motoring", "motor"), ("conflated", "conflat"), ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"),
        ("enjoy", "enjoy"), ("relational", "relat"), ("rational", "ration"), ("hesitancy", "hesit"), ("radically", "radic"),
        ("archaeology", "archaeolog"), ("electrical", "electr"), ("hopefulness", "hope"), ("adoption", "adopt"), ("replacement", "replac"),
        ("controlling", "control"), ("rate", "rate"), ("dying", "die"), ("news", "news"), ("spied", "spi"), ("died", "die"), ("is", "is"),
    ],
)  # fmt: skip
def test_stems_are_those_of_nltk(word: str, expected: str) -> None:
    """The stemmer gives NLTK's stems, its irregular forms and extensions included."""
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The bookings were cancelled!", ["the", "book", "were", "cancel"]),
        ("예약 완료", ["예", "약", "완", "료"]),
        ("予約しました", ["予", "約", "し", "ま", "し", "た"]),
        ("订单 42", ["订", "单", "42"]),
        ("ภาษาไทย", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย"]),
        ("Straße über ﬁnale", ["straße", "über", "final"]),
        ("हिन्दी", ["हिन्दी"]),
        ("…", []),
    ],
)
def test_words_are_found_in_every_script(text: str, expected: list[str]) -> None:
    """Chinese, Japanese and Korean are counted by character, other scripts by word, and none is lost."""
    assert tokens(text) == expected


def test_rouge_1() -> None:
    """Three words against two of them: P 2/3, R 1, F 0.8; no words give 0."""
    found = rouge_1("the cat sat", "The cat")
    assert (found.precision, found.recall, found.f) == pytest.approx((2 / 3, 1.0, 0.8))
    assert rouge_1("", "").f == 0.0


def test_the_last_answer_is_compared() -> None:
    """Without expectations by turn the last words of the agent count."""
    talk = conversation(user("Book"), says("Which one?"), user("Golden Dragon"), says("Your table is booked."))
    assert value_of(NAME, talk, Reference(response="Your table is booked.")) == 1.0


def test_mean_over_turns_in_korean() -> None:
    """Expectations by turn are held against each turn's last answer."""
    talk = conversation(user("예약"), says("예약 완료"), user("취소"), says("모름"))
    wanted = Reference(turns=(TurnReference(response="예약 완료"), TurnReference(response="취소")))
    outcome = outcome_of(NAME, talk, wanted)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.details["turns"]) == (0.5, "fail", (1.0, 0.0))


def test_reasons_to_skip() -> None:
    """No expected response, an empty one, turns that do not fit, hidden and cut content: each has no value."""
    talk = conversation(user("Hi"), says("Hello"))
    hidden = conversation(user("Hi"), gaps=(Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="gen_ai.output.messages"),))
    cut = conversation(user("Hi"), says("Hel"), gaps=(Gap(reason=GapReason.TRUNCATED, where="gen_ai.output.messages"),))
    two = Reference(turns=(TurnReference(response="a"), TurnReference(response="b")))
    cases = [
        (talk, Reference(), SkipReason.NEEDS_MISSING),
        (talk, Reference(response="!"), SkipReason.UNDEFINED),
        (talk, two, SkipReason.NEEDS_MISSING),
        (hidden, Reference(response="a"), SkipReason.CONTENT_NOT_CAPTURED),
        (cut, Reference(response="a"), SkipReason.TRUNCATED),
    ]
    for given, wanted, reason in cases:
        outcome = outcome_of(NAME, given, wanted)
        assert isinstance(outcome, Skipped)
        assert outcome.reason is reason
