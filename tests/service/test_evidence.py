"""What comes in is kept once, and records find their spans. Semconv traps T12, T14; field bug B8."""

from dataclasses import replace
from itertools import permutations

from otel_eval.model import Batch, LogRecord, Span
from otel_eval.service.evidence import Gathered
from tests.fakes.spans import log, moment, span


def gathered(*batches: Batch) -> Gathered:
    found = Gathered()
    for one in batches:
        found.add(one)
    return found


def spans(*items: Span) -> Batch:
    return Batch(spans=items)


def logs(*items: LogRecord) -> Batch:
    """Records of one request, in their order."""
    return Batch(logs=tuple(replace(r, order=place) for place, r in enumerate(items)))


def bodies(found: Gathered) -> list[object]:
    return [r.body for _, records in found.items() for r in records]


def test_a_span_that_came_twice_is_one() -> None:
    """Sending again changes nothing; it is counted."""
    found = gathered(spans(span(1)), spans(span(1), span(2)))
    assert [s.span_id[-1] for s, _ in found.items()] == ["1", "2"]
    assert (found.repeated, found.conflicts) == (1, 0)


def test_two_spans_of_one_id_keep_the_one_that_ended_later() -> None:
    """B8: the same whatever the order of arrival, and counted as a conflict."""
    versions = [span(1, {"v": 1}, end=2), span(1, {"v": 2}, end=5), span(1, {"v": 3}, end=3)]
    for order in permutations(versions):
        found = gathered(*map(spans, order))
        assert [dict(s.attributes) for s, _ in found.items()] == [{"v": 2}]
        assert found.conflicts == 2


def test_spans_of_different_traces_may_share_an_id() -> None:
    """A span's id counts within its trace."""
    assert len(gathered(spans(span(1, trace=1), span(1, trace=2))).spans) == 2


def test_records_stand_with_their_span_in_order_of_time() -> None:
    """T12: time, observed time where there is none, then the place in the request."""
    listed = [log(1, "e", "c", at=3), log(1, "e", "a", at=1), log(1, "e", "b", observed=2), log(1, "e", "d", at=3)]
    assert bodies(gathered(logs(*listed), spans(span(1)))) == ["a", "b", "c", "d"]


def test_records_may_come_before_their_span() -> None:
    """T13: content usually arrives first."""
    assert bodies(gathered(logs(log(1, "e", "x")), spans(span(1)))) == bodies(gathered(spans(span(1)), logs(log(1, "e", "x")))) == ["x"]


def test_a_record_that_came_twice_is_one() -> None:
    """A request sent again adds nothing, whatever requests its records come in."""
    one, two = log(1, "e", "x"), log(1, "e", "y")
    found = gathered(logs(one, two), logs(one, two), logs(two), logs(one))
    assert bodies(found) == ["x", "y"]
    assert found.repeated == 4


def test_equal_records_of_one_request_are_as_many_as_it_holds() -> None:
    """A user may say the same twice in one moment: two equal records of one request are two."""
    one = log(1, "e", "x")
    assert bodies(gathered(logs(one, one), logs(one, one))) == ["x", "x"]


def test_records_without_ids_are_counted_and_joined_to_nothing() -> None:
    """T14: no guess is made by time."""
    found = gathered(spans(span(1)), logs(log(1, "e", "x", trace_id=None), log(1, "e", "y", span_id=None)))
    assert bodies(found) == []
    assert found.loose_logs == 2


def test_records_whose_span_never_came_stand_on_an_empty_one() -> None:
    """T14: unsampled traces still send content; the span that is made for it has their ids and times, nothing else."""
    ((made, records),) = gathered(logs(log(7, "e", "x", at=3), log(7, "e", "y", at=5))).items()
    assert (made.span_id[-1], made.start_ns, made.end_ns, dict(made.attributes)) == ("7", moment(3), moment(5), {})
    assert [r.body for r in records] == ["x", "y"]
