"""Ids, times, kinds and statuses as various tools write them."""

from typing import Any

import pytest

from otel_eval.otlp.foreign.values import attributes, content_id, first, hex_id, kind, nanos, status_code
from otel_eval.otlp.tally import Tally

T = 1_700_000_000_123_456_789

TIMES = [
    (T, T),
    (str(T), T),
    (1_700_000_000, 1_700_000_000 * 10**9),
    (1_700_000_000.5, 1_700_000_000_500_000_000),
    (1_700_000_000_123, 1_700_000_000_123_000_000),
    (1_700_000_000_123_456, 1_700_000_000_123_456_000),
    ([1_700_000_000, 123_456_789], T),
    ("2023-11-14T22:13:20.123456789Z", T),
    ("2023-11-14T22:13:20.123456Z", T // 1000 * 1000),
    ("2023-11-14T23:13:20.5+01:00", 1_700_000_000_500_000_000),
    ("2023-11-14T22:13:20", 1_700_000_000 * 10**9),
    ("2023-11-14 22:13:20", 1_700_000_000 * 10**9),
    (None, None),
    ("", None),
    (0, None),
    (2**70, None),
]


@pytest.mark.parametrize(("value", "expected"), TIMES)
def test_a_time_is_read_to_the_nanosecond(value: Any, expected: int | None) -> None:
    """Every form of a time gives the same moment, with all the digits that are there; no time is None."""
    assert nanos(value) == expected


@pytest.mark.parametrize("value", ["soon", "2023-13-01", {}, True, [1], ["a", "b"], float("nan"), float("inf")])
def test_what_is_no_time_is_an_error(value: Any) -> None:
    """A broken time raises, so that the span is counted as broken and not given a time that it does not have."""
    with pytest.raises((TypeError, ValueError, OverflowError)):
        nanos(value)


IDS = [
    ("0x0102030405060708", 8, "0102030405060708", {}),
    ("ABCDEF0102030405", 8, "abcdef0102030405", {}),
    ("abc", 8, "0000000000000abc", {}),
    ("b3b7b128-5664-4f42-9fab-31999da9e2f1", 16, "b3b7b12856644f429fab31999da9e2f1", {}),
    ("AQIDBAUGBwg=", 8, "0102030405060708", {"base64_id": 1}),
    ("0000000000000000", 8, None, {}),
    ("", 8, None, {}),
    (None, 8, None, {}),
    (7, 8, None, {}),
]


@pytest.mark.parametrize(("value", "size", "expected", "notes"), IDS)
def test_an_id_is_hexadecimal_however_it_was_written(value: Any, size: int, expected: str | None, notes: dict[str, int]) -> None:
    """Prefix, case, cut zeros, dashes and padded base64 are undone; nothing and zeros are no id."""
    tally = Tally()
    assert (hex_id(value, size, tally), tally.notes) == (expected, notes)


@pytest.mark.parametrize("word", ["live-trace-1", "adot-agent-1", "b3b7b128-5664-4f42-9fab-31999da9e2f1"])
def test_a_foreign_id_is_replaced_by_its_hash(word: str) -> None:
    """A word and a UUID too long for a span id become ids of the right length, always the same ones, and are noted."""
    tally = Tally()
    made = [hex_id(word, 8, tally) for _ in range(2)]
    assert made[0] == made[1]
    assert len(bytes.fromhex(made[0] or "")) == 8
    assert tally.notes == {"foreign_id": 2}
    assert hex_id(word + "x", 8, tally) != made[0]


def test_a_missing_id_is_made_of_the_content() -> None:
    """The same content has the same id, whatever the order of its keys."""
    tally = Tally()
    assert content_id({"a": 1, "b": 2}, 16, tally) == content_id({"b": 2, "a": 1}, 16, tally) != content_id({"a": 1}, 16, tally)
    assert tally.notes == {"missing_id": 3}


@pytest.mark.parametrize(
    ("value", "expected"),
    [("SpanKind.CLIENT", 3), ("client", 3), ("SPAN_KIND_SERVER", 2), (1, 1), ("other", 0), (None, 0), (9, 0), ({}, 0), (True, 0)],
)
def test_a_kind_is_read_in_any_spelling(value: Any, expected: int) -> None:
    """Names and numbers; what is no kind is unspecified."""
    assert kind(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("StatusCode.ERROR", 2), ("Ok", 1), ("STATUS_CODE_ERROR", 2), ("UNSET", 0), (2, 2), (None, 0), ({}, 0)]
)
def test_a_status_is_read_in_any_spelling(value: Any, expected: int) -> None:
    """Names and numbers; what is no status is unset."""
    assert status_code(value) == expected


def test_first_goes_into_objects() -> None:
    """The first name that is there counts, null is not there, and a dot goes into an object."""
    assert first({"a": None, "b": {"c": 0}}, "a", "b.x", "b.c", "b") == 0
    assert first({"a": "text"}, "a.b") is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"k": {"values": [{"stringValue": "a"}, {"intValue": "2"}]}}, {"k": ["a", 2]}),
        ({"k": {"arrayValue": {"values": [{"boolValue": True}]}}}, {"k": [True]}),
        ({"k": {"values": ["a"]}}, {"k": {"values": ["a"]}}),
        ({"k": {"values": [], "n": 1}}, {"k": {"values": [], "n": 1}}),
        ([{"key": "k", "value": {"stringValue": "a"}}], {"k": "a"}),
    ],
)
def test_single_values_of_a_plain_map_may_stand_in_otlp_s_form(given: Any, expected: dict[str, Any]) -> None:
    """Dumps that decoded an OTLP request half-way hold arrays as `{"values": [{"stringValue": …}]}` inside a plain map."""
    assert attributes(given) == expected
