"""Writes messages and says of each when the broker has it. For the thread that polls."""

from collections import deque
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from otel_eval.kafka.client_log import client_logger
from otel_eval.kafka.records import Sending
from otel_eval.kafka.settings import KafkaSettings, producer_properties


class Courier:
    """Messages leave in order for each key; none is given up while the broker is away."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._producer = Producer(producer_properties(settings), logger=client_logger())
        self._waiting: deque[Sending] = deque()
        self.pending_bytes = 0
        """Of messages that the broker does not have yet."""
        self.sent = 0

    def send(self, sending: Sending) -> None:
        """Write a message as soon as there is room for it."""
        self.pending_bytes += len(sending.value)
        self._waiting.append(sending)
        self._push()

    def tick(self) -> None:
        """Hear what the broker says."""
        self._producer.poll(0)
        self._push()

    def flush(self, within_s: float) -> None:
        """Wait until everything is with the broker, or the time is over."""
        self._push()
        self._producer.flush(within_s)

    def _push(self) -> None:
        while self._waiting:
            sending = self._waiting[0]
            try:
                self._producer.produce(
                    sending.topic,
                    key=sending.key,
                    value=sending.value,
                    headers=list(sending.headers.items()),
                    on_delivery=partial(self._delivered, sending),
                )
            except BufferError:  # its queue is full: it is tried again at the next tick
                return
            except KafkaException as fault:  # too large, by its own limit
                self._waiting.popleft()
                self._done(sending, _name_of(fault))
            else:
                self._waiting.popleft()

    def _delivered(self, sending: Sending, error: KafkaError | None, _: Message) -> None:
        self._done(sending, None if error is None else error.name())

    def _done(self, sending: Sending, fault: str | None) -> None:
        self.pending_bytes -= len(sending.value)
        self.sent += fault is None
        sending.done(fault)


def _name_of(fault: KafkaException) -> str:
    error: Any = fault.args[0] if fault.args else None
    return str(error.name()) if isinstance(error, KafkaError) else type(fault).__name__
