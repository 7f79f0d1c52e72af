"""Results as log events in VictoriaLogs, found with the saved queries of `docs/backends.md`."""

from collections.abc import Iterator

import pytest

from tests.fakes.backends import VictoriaLogs, queries
from tests.fakes.judged import CONVERSATION, METRIC, ROOT, TRACE, judged
from tests.fakes.serving import until


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VictoriaLogs]:
    """With the results of one conversation that reached its goal, of one that did not, and of one whose judge refused."""
    folder = tmp_path_factory.mktemp("victoria-logs")
    with VictoriaLogs(folder) as running, judged(folder, sinks__otlp_events__endpoint=running.otlp) as server:
        until(lambda: server.outcomes("conversation") == {"scored": 3}, 60)
        until(lambda: len(running.rows('event_name:="gen_ai.evaluation.result"')) == 6, 30)
        yield running


def test_by_metric(logs: VictoriaLogs) -> None:
    """The mean of each metric over its scores; failures count for none."""
    means = {row["gen_ai.evaluation.name"]: (float(row["mean"]), row["results"]) for row in logs.rows(queries()["Mean of each metric"])}
    assert means == {METRIC: (0.5, "2"), "turn_count": (1.0, "3")}


def test_what_fell_short(logs: VictoriaLogs) -> None:
    """The conversation whose goal was not reached, with its trace."""
    (row,) = logs.rows(queries()["Conversations that fell short"])
    assert row["gen_ai.conversation.id"] == "talk-2"
    assert len(row["trace_id"]) == 32


def test_failures(logs: VictoriaLogs) -> None:
    """Why there is no value, by metric."""
    assert logs.rows(queries()["What failed, and why"]) == [
        {"gen_ai.evaluation.name": METRIC, "error.type": "judge_refused", "results": "1"}
    ]


def test_by_conversation(logs: VictoriaLogs) -> None:
    """All results of one conversation."""
    rows = logs.rows(queries()["Results of a conversation"])
    assert {row["gen_ai.evaluation.name"]: row["gen_ai.evaluation.score.value"] for row in rows} == {METRIC: "1", "turn_count": "1"}
    assert CONVERSATION in queries()["Results of a conversation"]


def test_by_trace(logs: VictoriaLogs) -> None:
    """All results of one trace, on the root span of the judged turn."""
    rows = logs.rows(queries()["Results of a trace"])
    assert {(row["gen_ai.evaluation.name"], row["span_id"]) for row in rows} == {(METRIC, ROOT), ("turn_count", ROOT)}
    assert TRACE in queries()["Results of a trace"]
