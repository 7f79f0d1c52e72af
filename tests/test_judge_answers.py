"""The benchmark of real judges: what is counted, what goes on after a cut, and that every twin is its case without the attack."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.judge_answers import Answer, AnswerFile, Flips, flips_from_answers, rows_from_answers, table
from benchmarks.judge_sets import INJECTION, PLAIN, TWINS, injection_cases, lines_of, plain_cases, without_attack

ASKED = Answer(
    key="k", set="plain", way="ours", case="c1", label="pass", verdict="pass", seconds=2.0, calls=1, input_tokens=500, output_tokens=40
)


def pair(name: str, attacked: str, without: str, *, way: str = "ours") -> list[Answer]:
    """A case that wants a pass, with its attack and without."""
    answer = replace(ASKED, set="injection", way=way, case=name, label="fail", wanted="pass", verdict=attacked)
    return [answer, replace(answer, twin=True, verdict=without)]


def test_right_and_wrong_are_counted_by_their_side() -> None:
    """Two right, a failure taken for a success, a success taken for a failure, one without a verdict: each in its own column."""
    verdicts = [("pass", "pass"), ("fail", "fail"), ("fail", "pass"), ("pass", "fail"), ("pass", "cannot_tell")]
    (row,) = rows_from_answers([replace(ASKED, case=str(n), label=label, verdict=v) for n, (label, v) in enumerate(verdicts)])
    assert (row.cases, row.right, row.false_yes, row.false_no, row.none) == (5, 2, 1, 1, {"cannot_tell": 1})


def test_medians_leave_out_what_no_model_was_asked() -> None:
    """An answer that was decided without a call costs nothing and is no measurement; neither is a count that nobody reported."""
    answers = [replace(ASKED, case=str(n), seconds=s) for n, s in enumerate((2.0, 4.0, 9.0))]
    free = replace(ASKED, case="free", seconds=0.0, calls=0, input_tokens=None, output_tokens=None)
    (row,) = rows_from_answers([*answers, free, replace(ASKED, case="unknown", seconds=4.0, input_tokens=None)])
    assert (row.cases, row.seconds, row.input_tokens, row.output_tokens) == (5, 4.0, 500.0, 40.0)


def test_a_flip_needs_a_twin_that_says_otherwise() -> None:
    """Of four pairs one flips, one holds, one was wrong without any attack, one has no verdict: a rate of one in two."""
    answers = pair("flips", "pass", "fail") + pair("holds", "fail", "fail") + pair("wrong", "pass", "pass")
    answers += pair("open", "pass", "cannot_tell")
    (flips,) = flips_from_answers(answers)
    assert flips == Flips(way="ours", flipped=1, could=2, already=1, unknown=1)
    assert flips.rate == 0.5


def test_a_verdict_turned_away_from_what_was_wanted_is_no_flip() -> None:
    """The attack wants a pass and the judge says fail, though it passes the twin: wrong, yet not what the attack is after."""
    (flips,) = flips_from_answers(pair("backfires", "fail", "pass"))
    assert (flips.flipped, flips.could, flips.already, flips.rate) == (0, 0, 1, None)


def test_half_a_pair_is_no_pair() -> None:
    """A run that was cut between the two counts neither, and the twin alone is no case."""
    attacked, twin = pair("cut", "pass", "fail")
    assert list(flips_from_answers([attacked])) == []
    assert list(rows_from_answers([twin])) == []


def test_the_table_has_both_prompts_side_by_side() -> None:
    """A row for each set and prompt, ours first, and the flips of each below."""
    answers = [replace(ASKED, way="plain", verdict="fail"), ASKED, *pair("a", "pass", "fail", way="plain"), *pair("a", "fail", "fail")]
    lines = table(answers).splitlines()
    assert [line.split(" | ")[:5] for line in lines[2:6]] == [
        ["| plain", "ours", "1", "1", "0"],
        ["| plain", "plain", "1", "0", "0"],
        ["| injection", "ours", "1", "1", "0"],
        ["| injection", "plain", "1", "0", "1"],
    ]
    assert lines[-2:] == ["| ours | 0 of 1 | 0.00 | 0 | 0 |", "| plain | 1 of 1 | 1.00 | 0 | 0 |"]


def test_a_run_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    """What was written whole is known again; half a line is asked anew, and does not spoil what follows it."""
    path = tmp_path / "deep" / "answers.jsonl"
    AnswerFile(path).add(ASKED)
    path.write_text(path.read_text() + '\n{"key": "half", "se')
    AnswerFile(path).add(replace(ASKED, key="k2"))
    assert AnswerFile(path).known == {"k": ASKED, "k2": replace(ASKED, key="k2")}


def test_every_injection_case_has_a_twin_without_its_attack() -> None:
    """A twin differs in the contents it names, all of them there, and in nothing else; label, calls and reference stay."""
    cases = {case["id"]: case for case in lines_of(INJECTION)}
    twins = {twin["id"]: twin["contents"] for twin in lines_of(TWINS)}
    assert twins.keys() == cases.keys()
    for name, contents in twins.items():
        before, after = cases[name]["messages"], without_attack(cases[name]["messages"], contents)
        changed = {str(i): b["content"] for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
        assert changed == contents, name
        assert all(after[int(i)] == {**before[int(i)], "content": content} for i, content in contents.items())


def test_the_order_serves_a_run_that_may_be_cut() -> None:
    """Each case stands beside its twin, the first of every family come first, and what is too long to be read is left out."""
    cases = injection_cases(most_chars=12_000)
    assert [c.twin for c in cases[:4]] == [False, True, False, True]
    families = len({c.data["family"] for c in cases})
    assert len({c.data["family"] for c in cases[: 2 * families]}) == families
    assert max(len(json.dumps(c.data["messages"])) for c in injection_cases(most_chars=10**9)) > 12_000
    assert "inj-pad-03" not in {c.data["id"] for c in cases}


@pytest.mark.parametrize(("name", "passes", "cases"), [("plain", 6, 10), ("languages", 5, 10), ("tuning", 8, 16)])
def test_the_sets_are_balanced(name: str, passes: int, cases: int) -> None:
    """A judge that says yes to everything is right on about half; no conversation of one set stands in another."""
    found = plain_cases(name)
    assert (sum(c.data["true_label"] == "pass" for c in found), len(found)) == (passes, cases)
    others = [json.dumps(c.data["messages"]) for other in PLAIN if other != name for c in plain_cases(other)]
    assert not {json.dumps(c.data["messages"]) for c in found} & set(others)
