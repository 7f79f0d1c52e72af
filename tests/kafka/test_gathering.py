"""Messages of a Collector to whole traces, and whole traces to messages keyed by conversation: pure, with a clock that is told."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.completion import CompletionLimits
from otel_eval.dialects import BUILTIN
from otel_eval.errors import InputError
from otel_eval.kafka.records import Place, Record, Sending, Source
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.keeping import keys_of_dialects
from otel_eval.service.worker.gathering import Gatherer, Held, Piece
from otel_eval.service.worker.routing import CONVERSATION, PACK_BYTES, SIGNAL, WHOLE, Router, messages_of, packs_of
from tests.fakes.kafka import LOGS, SPANS, Message, name_of, talk, trace_of, turn_messages
from tests.fakes.wire import span, traces

LIMITS = CompletionLimits(trace_quiet_s=10.0, trace_max_age_s=100.0)
SIGNALS = {SPANS: "traces", LOGS: "logs"}


@dataclass
class Bench:
    """A gatherer that remembers what it gives on and what is finished."""

    whole: list[Held] = field(default_factory=list)
    finished: list[Source] = field(default_factory=list)
    sent: list[Source] = field(default_factory=list)

    def __post_init__(self) -> None:
        reader = EnvelopeReader(keys_of_dialects(BUILTIN))
        self.gatherer = Gatherer(reader=reader, limits=LIMITS, on_whole=self.whole.append, on_finished=self.finished.append)

    def take(self, messages: Iterable[Message], now_s: float, *, partition: int = 0) -> None:
        for message in messages:
            record = Record(place=Place(message.topic, partition), offset=len(self.sent), value=message.value)
            self.sent.append(Source(record.place, record.offset))
            self.gatherer.take(record, "logs" if message.topic == LOGS else "traces", now_s)


def test_a_trace_is_given_on_with_all_its_pieces() -> None:
    """Nothing is given on before the root has ended and a while of silence is over; a message is finished when its trace is released."""
    bench = Bench()
    call, log, root = turn_messages(1, 1)
    bench.take([call, log], 0.0)
    bench.gatherer.tick(50.0)
    assert bench.whole == []
    bench.take([root], 60.0)
    bench.gatherer.tick(69.9)
    assert bench.whole == []
    bench.gatherer.tick(70.0)
    (held,) = bench.whole
    assert (held.trace_id, held.ids) == (trace_of(1, 1).hex(), frozenset({name_of(1)}))
    assert (held.is_whole, held.is_needed) == (True, True)
    assert [piece.source for piece in held.pieces] == bench.sent
    assert bench.finished == []
    assert bench.gatherer.held_bytes == sum(len(m.value) for m in (call, log, root))
    bench.gatherer.release(held)
    assert bench.finished == bench.sent
    assert bench.gatherer.held_bytes == 0


def test_a_trace_without_a_root_is_given_on_as_what_it_is() -> None:
    """After the longest time a trace without its root goes on too, and does not say that it is whole."""
    bench = Bench()
    bench.take(turn_messages(1, 1)[:1], 0.0)
    bench.gatherer.tick(99.0)
    assert bench.whole == []
    bench.gatherer.tick(100.0)
    (held,) = bench.whole
    assert not held.is_whole
    assert all(WHOLE not in headers for _, headers, _ in messages_of(held))


def test_what_comes_late_goes_to_the_same_conversation() -> None:
    """A span that names no conversation goes where its trace went before, and does not pretend to be whole."""
    bench = Bench()
    call, _, root = turn_messages(1, 1)
    bench.take([root], 0.0)
    bench.gatherer.tick(10.0)
    bench.take([call], 20.0)
    bench.gatherer.tick(30.0)
    first, late = bench.whole
    assert late.ids == first.ids == {name_of(1)}
    assert [(key, WHOLE in headers) for key, headers, _ in messages_of(late)] == [(name_of(1).encode(), False)]


def test_a_message_of_many_traces_is_cut() -> None:
    """A Collector that does not partition by trace is read all the same; the message is finished when the last of its traces is."""
    bench = Bench()
    other = bytes(range(2, 18))
    bench.take([Message(topic=SPANS, key=None, value=traces(span(1), span(2, trace_id=other)))], 0.0)
    bench.gatherer.tick(10.0)
    assert len(bench.whole) == 2
    assert [EnvelopeReader().read("traces", held.pieces[0].body, "protobuf").spans for held in bench.whole] == [1, 1]
    bench.gatherer.release(bench.whole[0])
    assert bench.finished == []
    bench.gatherer.release(bench.whole[1])
    assert bench.finished == bench.sent


def test_a_message_without_traces_is_finished_at_once() -> None:
    """An empty request holds nothing up."""
    bench = Bench()
    bench.take([Message(topic=SPANS, key=None, value=b"\x0a\x00")], 0.0)
    assert bench.finished == bench.sent


@pytest.mark.parametrize("value", [None, b"", b"\xff\xff no protobuf"])
def test_what_is_no_otlp_is_refused(value: bytes | None) -> None:
    """A message that cannot be read is an InputError, and nothing of it is held."""
    bench = Bench()
    with pytest.raises(InputError):
        bench.gatherer.take(Record(place=Place(SPANS, 0), offset=0, value=value), "traces", 0.0)
    assert bench.gatherer.traces == 0


@given(order=st.permutations([m for n in (1, 2, 3) for m in talk(n, turns=2)]), gone=st.sets(st.integers(0, 3)))
def test_any_order_finishes_every_message_once(order: list[Message], gone: set[int]) -> None:
    """Whatever order messages come in, every one is finished once; those of partitions that go are not, and nothing of them is left."""
    bench = Bench()
    for number, message in enumerate(order):
        bench.take([message], number * 0.1, partition=number % 4)
    places = [Place(topic, partition) for topic in SIGNALS for partition in gone]
    bench.gatherer.drop(places)
    bench.gatherer.tick(1000.0)
    for held in bench.whole:
        bench.gatherer.release(held)
    assert sorted(bench.finished) == sorted(source for source in bench.sent if source.place not in places)
    assert (bench.gatherer.held_bytes, bench.gatherer.traces) == (0, 0)


def held_of(*pieces: tuple[str, bytes], ids: frozenset[str] = frozenset()) -> Held:
    held = Held(trace_id="ab" * 16, first_s=0.0, is_whole=True, ids=ids)
    for number, (signal, body) in enumerate(pieces):
        kind = "logs" if signal == "logs" else "traces"
        held.pieces.append(Piece(signal="logs" if kind == "logs" else "traces", body=body, source=Source(Place("x", 0), number)))
    return held


def test_pieces_are_put_together_and_only_the_last_is_whole() -> None:
    """Requests of one signal are one message as far as it may be large; the trace is whole with the last message alone."""
    held = held_of(("traces", b"a"), ("logs", b"l"), ("traces", b"b"), ("traces", b"c" * PACK_BYTES))
    assert [(signal, len(body)) for signal, body in packs_of(held.pieces)] == [("logs", 1), ("traces", 2), ("traces", PACK_BYTES)]
    told = [(key, headers[SIGNAL], WHOLE in headers) for key, headers, _ in messages_of(held)]
    assert told == [(b"ab" * 16, b"logs", False), (b"ab" * 16, b"traces", False), (b"ab" * 16, b"traces", True)]


def test_a_trace_of_two_conversations_goes_to_both() -> None:
    """A trace that names several conversations is written once for each, under its key."""
    messages = list(messages_of(held_of(("traces", b"a"), ids=frozenset({"y", "x"}))))
    assert [(key, headers[CONVERSATION]) for key, headers, _ in messages] == [(b"x", b"x"), (b"y", b"y")]


def test_a_part_that_is_refused_leaves_no_trace_that_looks_whole() -> None:
    """Each message waits for the one before it; when one is refused for good, the rest is not written and the trace is told as lost."""
    sent: list[Sending] = []
    routed: list[str | None] = []
    router = Router(topic="talks", send=sent.append, on_routed=lambda held, fault: routed.append(fault))
    router.route(held_of(("logs", b"l"), ("traces", b"a")))
    assert (len(sent), router.in_flight) == (1, 1)
    sent[0].done(None)
    assert len(sent) == 2
    sent[1].done("MSG_SIZE_TOO_LARGE")
    assert (routed, router.in_flight) == (["MSG_SIZE_TOO_LARGE"], 0)
    router.route(held_of(("logs", b"l"), ("traces", b"a")))
    sent[2].done("MSG_SIZE_TOO_LARGE")
    assert (len(sent), routed[1:]) == (3, ["MSG_SIZE_TOO_LARGE"])
