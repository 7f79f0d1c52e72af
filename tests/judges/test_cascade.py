"""A cheap judge first: who answers when, and how its errors are found."""

from otel_eval.judges.cascade import CascadeJudge
from tests.fakes.judges import Told, ask, failure, question, reply


def test_a_sure_first_judge_is_enough() -> None:
    """Confident either way: the strong judge is not asked, and the stage stands in the notes."""
    for sure in (reply("yes", confidence=0.97), reply("no", confidence=0.03), reply("yes")):
        second = Told([reply("no")])
        found = ask(CascadeJudge(first=Told([sure]), second=second, audit=0.0))
        assert (found.answer["verdict"], found.notes["stage"], second.asked) == (sure.answer["verdict"], 1, [])


def test_an_unsure_or_failing_first_judge_is_followed_by_the_second() -> None:
    """Little confidence, a stated doubt, or no answer at all: the strong judge decides, and the bill has both."""
    for first in (reply(confidence=0.6), reply(certainty="leaning"), failure("reply_schema", use=reply().use)):
        cascade = CascadeJudge(first=Told([first]), second=Told([reply("no")]), audit=0.0)
        found = ask(cascade)
        assert (found.answer["verdict"], found.notes["stage"], found.use.calls) == ("no", 2, 2)


def test_an_audit_counts_where_the_two_differ() -> None:
    """A share of the accepted answers goes to the strong judge too; which ones depends on the question alone."""
    cascade = CascadeJudge(first=Told([reply("yes")]), second=Told([reply("no")]), audit=0.5)
    found = [ask(cascade, question(f"Question {n}?")) for n in range(40)]
    again = [ask(cascade, question(f"Question {n}?")) for n in range(40)]
    assert [f.answer["verdict"] for f in found] == [a.answer["verdict"] for a in again]
    assert 20 <= cascade.audited <= 60
    assert cascade.audit_differs == cascade.audited


def test_an_audit_that_fails_changes_nothing() -> None:
    """When the strong judge cannot answer the audit, the accepted answer stands."""
    cascade = CascadeJudge(first=Told([reply("yes")]), second=Told([failure("judge_unavailable")]), audit=1.0)
    found = ask(cascade)
    assert (found.answer["verdict"], found.notes["stage"]) == ("yes", 1)
