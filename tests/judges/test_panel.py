"""Several opinions: majority, tie, and no opinion paid for that cannot change the outcome."""

from otel_eval.judges.base import Reply
from otel_eval.judges.panel import PanelJudge
from tests.fakes.judges import Told, failure, outcome_of, question, reply


def test_two_that_agree_are_enough() -> None:
    """Of three judges the third is asked only if the first two differ; the share of votes is the confidence."""
    judges = [Told([reply("yes")]), Told([reply("yes")]), Told([reply("no")])]
    found = outcome_of(lambda: PanelJudge(judges=judges).ask(question()))
    assert isinstance(found, Reply)
    assert (found.answer["verdict"], found.confidence, found.confidence_source) == ("yes", 1.0, "samples")
    assert [len(j.asked) for j in judges] == [1, 1, 0]
    assert found.use.calls == 2


def test_the_third_decides() -> None:
    """Two against one: the majority's verdict, and what all three took."""
    judges = [Told([reply("yes")]), Told([reply("no")]), Told([reply("no")])]
    found = outcome_of(lambda: PanelJudge(judges=judges).ask(question()))
    assert (found.answer["verdict"], found.use.calls) == ("no", 3)
    assert round(found.confidence, 2) == 0.67


def test_no_majority_is_no_verdict() -> None:
    """A tie abstains as `disagreement`: it is never the negative verdict."""
    judges = [Told([reply("yes")]), Told([reply("no")])]
    assert outcome_of(lambda: PanelJudge(judges=judges).ask(question())).reason == "disagreement"
    three = [Told([reply("yes")]), Told([reply("no")]), Told([reply("cannot_tell")])]
    assert outcome_of(lambda: PanelJudge(judges=three).ask(question())).reason == "disagreement"


def test_a_judge_that_fails_has_no_vote() -> None:
    """One failure of three does no harm; all failing is the first one's reason."""
    judges = [Told([failure("judge_timeout")]), Told([reply("no")]), Told([reply("no")])]
    assert outcome_of(lambda: PanelJudge(judges=judges).ask(question())).answer["verdict"] == "no"
    broken = [Told([failure("judge_refused")]) for _ in range(3)]
    assert outcome_of(lambda: PanelJudge(judges=broken).ask(question())).reason == "judge_refused"


def test_samples_of_one_judge_are_separate_questions() -> None:
    """Each opinion of one judge has its own number, so that a cache does not answer with the first one."""
    told = Told([reply("yes"), reply("no"), reply("no")])
    outcome_of(lambda: PanelJudge(judges=[told] * 3).ask(question()))
    assert [q.sample for q in told.asked] == [0, 1, 2]
