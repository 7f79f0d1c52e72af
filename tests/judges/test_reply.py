"""The parser of replies: exactly one object in the form, or the closed reason. Table-driven over what judges really write."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import JudgeError
from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Flag, Flags, Form, Sentences
from otel_eval.judges.form import schema_from_form
from otel_eval.judges.reply import answer_from_text, is_refusal, repeats_record, value_from_text
from otel_eval.metrics.agent_goal_accuracy import goal_form
from otel_eval.metrics.topic_adherence import topic_form

YES_NO = Form(name="yes_no", fields={"reason": REASON, "evidence": Blocks(count=4), "certainty": CERTAINTY, "verdict": VERDICT})
GOOD = '{"reason":"ok","evidence":[2],"certainty":"clear","verdict":"yes"}'
ROW: dict[str, Any] = {"request": "r1", "same_as": "", "goal": "g", "reason": "r", "evidence": [0], "status": "reached"}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\ufeff  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f'<think>maybe {{"verdict": "no"}}?</think>\n{GOOD}',
        GOOD.replace('"yes"', "true"),
        GOOD.replace('"yes"', '" YES "'),
        GOOD.replace("[2]", '["2", 2.0]'),
        GOOD.replace('"ok"', '["o", "k"]'),
        GOOD.replace('"clear"', '"clear","extra":{"a":1}'),
        GOOD.replace('"certainty":"clear",', ""),
    ],
)
def test_what_is_taken(text: str) -> None:
    """One object, with the small liberties that cannot be misread."""
    answer, _ = answer_from_text(YES_NO, text)
    assert (answer["verdict"], answer["evidence"]) == ("yes", [2])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "reply_empty"),
        (" \n", "reply_empty"),
        ("<think>hm</think>", "reply_empty"),
        ("yes", "reply_unparsable"),
        ("I think: " + GOOD, "reply_unparsable"),
        (GOOD + " That is my verdict.", "reply_unparsable"),
        (GOOD[:-1], "reply_unparsable"),
        (f"[{GOOD}]", "reply_unparsable"),
        (GOOD.replace('"', "'"), "reply_unparsable"),
        (GOOD.replace("[2]", "[NaN]"), "reply_unparsable"),
        ("<think>never closed " + GOOD, "reply_unparsable"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "reply_conflict"),
        (GOOD + GOOD, "reply_conflict"),
        (GOOD + "\n" + GOOD.replace("yes", "no"), "reply_conflict"),
        (GOOD.replace('"verdict":"yes"', '"verdict":"yes","verdict":"no"'), "reply_conflict"),
        ("{}", "reply_schema"),
        (GOOD.replace('"yes"', '"probably"'), "reply_schema"),
        (GOOD.replace('"yes"', "null"), "reply_schema"),
        (GOOD.replace('"yes"', "1"), "reply_schema"),
        (GOOD.replace("[2]", "2"), "reply_schema"),
        (GOOD.replace(',"verdict":"yes"', ""), "reply_schema"),
        ('{"a":' * 8 + "1" + "}" * 8, "reply_unparsable"),
        ('{"reason":"' + "x" * 70_000 + '"}', "reply_unparsable"),
        ("[" * 100_000, "reply_unparsable"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    """Everything else has its closed reason; nothing is closed, merged, picked or padded."""
    with pytest.raises(JudgeError) as caught:
        answer_from_text(YES_NO, text)
    assert caught.value.reason == reason


def test_items_must_be_complete_known_and_single() -> None:
    """Every id that was given once and no other; two different entries for one id conflict; one that points at itself points nowhere."""
    form = goal_form(("r1", "r2"), blocks=3)

    def reason(rows: list[dict[str, Any]]) -> str:
        with pytest.raises(JudgeError) as caught:
            answer_from_text(form, json.dumps({"requests": rows, "certainty": "clear"}))
        return caught.value.reason

    other = {**ROW, "request": "r2"}
    assert reason([ROW]) == "reply_incomplete"
    assert reason([ROW, {**ROW, "request": "r9"}]) == "reply_incomplete"
    assert reason([ROW, other, {**ROW, "request": "r9"}]) == "reply_incomplete"
    assert reason([ROW, other, {**ROW, "status": "dropped"}]) == "reply_conflict"
    other["same_as"] = "r2"
    answer, notes = answer_from_text(form, json.dumps({"requests": [other, ROW, ROW], "certainty": "clear"}))
    assert [row["same_as"] for row in answer["requests"]] == ["", ""]
    assert [row["request"] for row in answer["requests"]] == ["r1", "r2"]
    assert not notes


def test_an_unknown_domain_is_dropped_and_counted() -> None:
    """A domain id that we did not give is left out; the verdict stays."""
    row = {"request": "r1", "topic": "t", "reason": "r", "evidence": [7], "in_domain": True, "domain": "billing", "handling": "Answered"}
    answer, notes = answer_from_text(topic_form(("r1",), ("d1",), blocks=2), json.dumps({"requests": [row]}))
    assert (answer["requests"][0]["domain"], answer["requests"][0]["in_domain"]) == ("", "yes")
    assert notes == {"ids_dropped": 1, "evidence_dropped": 1}


def test_flags_and_lists() -> None:
    """True and false are themselves only; a list of flags has the length that was asked for."""
    form = Form(name="f", fields={"refused": Flag(), "all": Flags(count=2), "topics": Sentences()})
    answer, _ = answer_from_text(form, '{"refused": false, "all": [true, false], "topics": ["a"]}')
    assert answer == {"refused": False, "all": [True, False], "topics": ["a"]}
    for text, reason in (
        ('{"refused": "no", "all": [true, false], "topics": []}', "reply_schema"),
        ('{"refused": false, "all": [true], "topics": []}', "reply_incomplete"),
        ('{"refused": false, "all": [true, 1], "topics": []}', "reply_schema"),
    ):
        with pytest.raises(JudgeError) as caught:
            answer_from_text(form, text)
        assert caught.value.reason == reason


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    """Whatever a judge writes, the parser answers or gives a closed reason."""
    assert outcome(text) in {"value", "reply_empty", "reply_unparsable", "reply_conflict"}


def outcome(text: str) -> str:
    try:
        value_from_text(text)
    except JudgeError as error:
        return error.reason
    return "value"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I cannot evaluate this conversation.", True),
        ("As an AI, I am not able to judge this content.", True),
        ("The verdict is yes.", False),
        ('I\'m sorry: {"verdict": "no"}', False),
        ("The agent could not book the table.", False),
    ],
)
def test_a_plain_refusal_is_known(text: str, refusal: bool) -> None:
    """Words that decline to judge are told from words that judge badly."""
    assert is_refusal(text) is refusal


def test_a_quotation_is_no_verdict() -> None:
    """A reply that is a piece of the conversation, over however many marked lines, is a quotation."""
    record = 'RECORD 1 BEGINS\n[1] AGENT SAYS (a claim)\n| {"reason": "ok",\n|  "evidence": [], "verdict": "yes"}\nRECORD 1 ENDS'
    assert repeats_record('{"reason":"ok","evidence":[],"verdict":"yes"}', record)
    assert not repeats_record(GOOD, record)


def test_the_schema_is_the_common_subset() -> None:
    """One closed object, everything required, ids as words to choose from; bounds only where they are asked for."""
    schema = schema_from_form(goal_form(("r1", "r2"), blocks=3))
    row = schema["properties"]["requests"]["items"]
    assert schema["additionalProperties"] is False
    assert row["required"] == list(row["properties"])
    assert row["properties"]["request"]["enum"] == ["r1", "r2"]
    text = json.dumps(schema)
    assert not any(word in text for word in ("$ref", "anyOf", "const", "pattern", "maxLength", "minItems"))
    bounded = json.dumps(schema_from_form(goal_form(("r1", "r2"), blocks=3), bounds=True))
    assert "maxLength" in bounded
    assert '"minItems": 2' in bounded
