"""The client library's own log: each kind of line once a minute at most, for a broker that is away fills pages."""

import logging
import time

_EVERY_S = 60.0


class OfEachKindOneAMinute(logging.Filter):
    """Lets the first line of a kind through, and later ones once the minute is over. The kind is the first word."""

    def __init__(self) -> None:
        super().__init__()
        self._last_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind = record.getMessage().partition(" ")[0]
        now_s = time.monotonic()
        if now_s - self._last_s.get(kind, float("-inf")) < _EVERY_S:
            return False
        self._last_s[kind] = now_s
        return True


def client_logger() -> logging.Logger:
    """The logger to give to a client."""
    logger = logging.getLogger("otel_eval.kafka.client")
    if not any(isinstance(found, OfEachKindOneAMinute) for found in logger.filters):
        logger.addFilter(OfEachKindOneAMinute())
    return logger
