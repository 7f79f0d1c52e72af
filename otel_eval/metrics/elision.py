"""Shortens a record that is too long: deterministic, in fixed steps, with a visible remark at every cut.

Never cut: the first and the last user text (up to 4,000 characters each), the last text of the agent, names and status of calls (until
whole turns have to go). Each step is measured again; the first that fits wins.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from otel_eval.judges.base import estimated_tokens
from otel_eval.metrics.blocks import Block, BlockKind
from otel_eval.metrics.inert import Note

_PINNED_USER_CHARS = 4000
_FIRST_ELEMENTS, _LAST_ELEMENTS, _SHARED_ELEMENTS = 5, 2, 20
_IDENTIFIER = re.compile(r"[\w-]*\d[\w-]*")
_FRAME_SHARE = 0.15
_MARK_TOKENS = 1  # the `| ` of a line
_MARK_BYTES = 3 * _MARK_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Elided:
    """Blocks that fit, and what it took: the number of the last step (0: nothing was cut) and the turns that went as a whole."""

    blocks: list[Block]
    step: int = 0
    turns: int = 0


def elided(blocks: list[Block], budget_tokens: int, note: Note, *, results_first: bool = False) -> Elided | None:
    """The blocks within the budget, or None when even the last step is too long.

    `results_first`: tool results shrink to their status before any user text is touched (topic adherence needs the requests most).
    """
    if block_tokens(blocks) <= budget_tokens:
        return Elided(blocks=blocks)
    cut = _Cutter(blocks=blocks, note=note)
    for step, shorten in enumerate(_steps(cut, budget_tokens, results_first), start=1):
        blocks = shorten(blocks)
        if block_tokens(blocks) <= budget_tokens:
            return Elided(blocks=blocks, step=step)
    blocks, turns = _without_middle_turns(blocks, budget_tokens, note)
    return Elided(blocks=blocks, step=7, turns=turns) if block_tokens(blocks) <= budget_tokens else None


def block_tokens(blocks: Sequence[Block]) -> int:
    """Estimated tokens of the blocks, headers and line marks included."""
    return sum(estimated_tokens(b.header) + estimated_tokens(b.text) + _MARK_TOKENS * (1 + b.text.count("\n")) for b in blocks)


def _steps(cut: "_Cutter", budget: int, results_first: bool) -> Iterator[Callable[[list[Block]], list[Block]]]:
    frame_chars = int(budget * _FRAME_SHARE * 3)
    yield lambda blocks: cut.kind(blocks, BlockKind.TOOLS, frame_chars // 2, BlockKind.INSTRUCTIONS)
    yield lambda blocks: cut.kind(blocks, BlockKind.RESULT, 2000)
    yield lambda blocks: cut.kind(blocks, BlockKind.RESULT, 400)
    yield lambda blocks: cut.kind(blocks, BlockKind.CALLS, 800)
    yield lambda blocks: cut.kind(blocks, BlockKind.SAYS, 200)
    if results_first:
        yield lambda blocks: cut.kind(blocks, BlockKind.RESULT, 0)
    yield lambda blocks: cut.kind(blocks, BlockKind.USER, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cutter:
    """Cuts blocks of one kind; knows which may not be cut and which ids the user speaks of."""

    blocks: Sequence[Block]
    note: Note

    def kind(self, blocks: list[Block], kind: BlockKind, limit: int, also: BlockKind | None = None) -> list[Block]:
        pinned, ids = self._pinned(), self._ids()
        return [self._cut(b, pinned.get(b.index, limit), ids) if b.kind in (kind, also) else b for b in blocks]

    def _cut(self, block: Block, limit: int, ids: frozenset[str]) -> Block:
        if len(block.text) <= limit + 40:  # a remark is about as long
            return block
        return replace(block, text=shortened(block.text, limit, ids, self.note))

    def _pinned(self) -> dict[int, int]:
        """Limits of the messages that are spared, by index."""
        users = [b.index for b in self.blocks if b.kind == BlockKind.USER]
        says = [b.index for b in self.blocks if b.kind == BlockKind.SAYS]
        limits = dict.fromkeys(users[:1] + users[-1:], _PINNED_USER_CHARS)
        return limits | dict.fromkeys(says[-1:], 10**9)

    def _ids(self) -> frozenset[str]:
        return frozenset(i for b in self.blocks if b.kind == BlockKind.USER for i in _IDENTIFIER.findall(b.text) if len(i) > 1)


def shortened(text: str, limit: int, ids: frozenset[str], note: Note) -> str:
    """A text cut to about `limit` characters: a JSON array to its ends and what the user spoke of, anything else to head and tail."""
    if limit <= 0:
        return note(f"{len(text):,} characters left out")
    array = _array(text)
    if array is not None and len(array) > _FIRST_ELEMENTS + _LAST_ELEMENTS:
        text = _short_array(array, ids, note)
        if len(text) <= limit:
            return text
    shared = _shared_lines(text, ids, limit // 3)
    head, tail = (limit - len(shared)) * 2 // 3, (limit - len(shared)) // 3
    left_out = len(text) - head - tail - len(shared)
    if left_out <= 0:
        return text
    middle = f"\n{shared}" if shared and shared not in text[:head] + text[-tail:] else ""
    return f"{text[:head]}\n{note(f'{left_out:,} characters left out')}{middle}\n{text[len(text) - tail :]}"


def _array(text: str) -> list[Any] | None:
    """The array that the text is, or the longest one right inside an object."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = max((v for v in value.values() if isinstance(v, list)), key=len, default=None)
    return value if isinstance(value, list) else None


def _short_array(array: list[Any], ids: frozenset[str], note: Note) -> str:
    lines, left_out, shared = [], 0, 0
    for position, element in enumerate(array):
        text = json.dumps(element, ensure_ascii=False, default=str)
        end = position < _FIRST_ELEMENTS or position >= len(array) - _LAST_ELEMENTS
        spoken_of = shared < _SHARED_ELEMENTS and not ids.isdisjoint(_IDENTIFIER.findall(text))
        if end or spoken_of:
            shared += not end
            lines += [note(f"{left_out:,} elements left out")] if left_out else []
            lines.append(text)
            left_out = 0
        else:
            left_out += 1
    return "\n".join(lines)


def _shared_lines(text: str, ids: frozenset[str], limit: int) -> str:
    """Lines that hold an id of the user's, as far as they fit."""
    kept: list[str] = []
    room = limit
    for line in text.splitlines():
        if 0 < len(line) <= room and not ids.isdisjoint(_IDENTIFIER.findall(line)):
            kept.append(line)
            room -= len(line) + 1
    return "\n".join(kept)


def _without_middle_turns(blocks: list[Block], budget: int, note: Note) -> tuple[list[Block], int]:
    """Whole turns go, oldest first, sparing the first and the last; one remark stands for all of them."""
    last = blocks[-1].turn if blocks else 0
    first = next((b.turn for b in blocks if b.kind == BlockKind.USER), 0)
    for gone, turn in enumerate(range(first + 1, last), start=1):
        kept = [b for b in blocks if not first < b.turn <= turn]
        remark = _turns_remark([b for b in blocks if first < b.turn <= turn], gone, note)
        at = next((i for i, b in enumerate(kept) if b.turn > turn), len(kept))
        shorter = [*kept[:at], remark, *kept[at:]]
        if block_tokens(shorter) <= budget or turn == last - 1:
            return shorter, gone
    return blocks, 0


def _turns_remark(left_out: list[Block], turns: int, note: Note) -> Block:
    calls = sum(b.kind == BlockKind.CALLS for b in left_out)
    errors = sum(b.kind == BlockKind.RESULT and "→ error" in b.header for b in left_out)
    return Block(kind=BlockKind.NOTE, header=note(f"{turns} turns left out, with {calls} calls, {errors} of them errors"))
