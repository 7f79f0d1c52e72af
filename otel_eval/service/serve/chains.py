"""Which conversation an answer was given in, for traces that name no conversation and go on from an earlier answer.

An application that uses stored answers of a provider (OpenAI Responses API) sends no history and no conversation id: a turn names the
answer that it goes on from. The last answer of each such trace is remembered in the store, as long as verdicts are.
"""

from collections.abc import Iterable
from typing import Protocol

_PREFIX = "answer:"
CHAINED = "resp_"
"""How ids of answers begin that can be gone on from."""


class Memory(Protocol):
    """Texts by key that outlive the process: the store's verdicts."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, value: str) -> None: ...


class Chains:
    """Heads of chains by the id of an answer: the trace in which the conversation began, or the id of one that has an id."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def head(self, answers: Iterable[str]) -> str | None:
        """The conversation in which one of these answers was given; None where none of them is known."""
        return next((head for answer in answers if (head := self._memory.get(_PREFIX + answer)) is not None), None)

    def remember(self, answer: str | None, head: str) -> None:
        """This answer was given there."""
        if answer is not None and answer.startswith(CHAINED):
            self._memory.put(_PREFIX + answer, head)
