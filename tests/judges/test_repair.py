"""One second chance for a reply that could not be used."""

import pytest

from otel_eval.judges.base import Reply
from otel_eval.judges.openai import messages_from_question
from otel_eval.judges.repair import RepairJudge
from tests.fakes.judges import Told, failure, outcome_of, question, reply


@pytest.mark.parametrize("reason", ["reply_empty", "reply_unparsable", "reply_conflict", "reply_schema", "reply_incomplete"])
def test_a_bad_reply_is_asked_for_once_more(reason: str) -> None:
    """The second prompt is the first with one sentence at the end; the bad reply is not in it, and what both took is added up."""
    told = Told([failure(reason, use=reply().use), reply()])
    answered = outcome_of(lambda: RepairJudge(judge=told).ask(question()))
    first, second = (messages_from_question(q) for q in told.asked)
    assert isinstance(answered, Reply)
    assert answered.use.calls == 2
    assert second[0] == first[0]
    assert second[1]["content"].startswith(first[1]["content"])
    assert "exactly one JSON object" in second[1]["content"][len(first[1]["content"]) :]


def test_twice_bad_is_the_end() -> None:
    """There is one repair and no more; the last reason stays."""
    told = Told([failure("reply_empty"), failure("reply_schema")])
    error = outcome_of(lambda: RepairJudge(judge=told).ask(question()))
    assert (error.reason, len(told.asked)) == ("reply_schema", 2)


@pytest.mark.parametrize(("cap", "second"), [(512, 4096), (8000, 16_000)])
def test_a_cut_reply_gets_more_room(cap: int, second: int) -> None:
    """Cut by the cap: once more with twice the room, and at least enough for a model that thinks first."""
    told = Told([failure("judge_truncated"), reply()])
    outcome_of(lambda: RepairJudge(judge=told).ask(question(output_tokens=cap)))
    assert [q.output_tokens for q in told.asked] == [cap, second]
    assert told.asked[1].repair is None


@pytest.mark.parametrize("reason", ["judge_refused", "judge_filtered", "judge_unavailable", "judge_input_truncated"])
def test_what_repair_cannot_cure_is_not_repaired(reason: str) -> None:
    """A refusal, a filter and trouble of the endpoint are no bad replies."""
    told = Told([failure(reason)])
    assert outcome_of(lambda: RepairJudge(judge=told).ask(question())).reason == reason
    assert len(told.asked) == 1
