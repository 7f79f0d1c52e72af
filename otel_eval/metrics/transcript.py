"""The record: one conversation as the text that a judge reads.

Turns cannot be imitated from inside: every line of content begins with `| `, headers hold only names made harmless, and the whole lies
between two lines with a nonce that does not occur in the content. The nonce comes from a secret, the conversation and its revision: the
same for all questions on one conversation (their prompts share a prefix), unguessable for whoever wrote the content.
"""

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from otel_eval.metrics import inert
from otel_eval.metrics.blocks import Block, BlockKind, blocks_from_conversation, reasoning_parts
from otel_eval.metrics.elision import Elided, block_tokens, elided
from otel_eval.model import Conversation

_NONCE_DIGITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The rendered conversation, and what had to be left out to fit."""

    text: str
    nonce: str
    tokens: int
    """Estimated."""
    left_out_tokens: int = 0
    left_out_turns: int = 0
    step: int = 0
    """Last step of `elision` that was needed; 0 where the conversation is whole."""

    @property
    def truncated(self) -> bool:
        return self.step > 0

    @property
    def mostly_left_out(self) -> bool:
        """More is missing than shown: no verdict on it can be clear."""
        return self.left_out_tokens > self.tokens


def record_from_conversation(
    conversation: Conversation, *, secret: bytes, revision: int = 1, budget_tokens: int = 24_000, results_first: bool = False
) -> Record | None:
    """The record within the budget, None where not even its shortest form fits."""
    nonce = nonce_from(conversation, secret=secret, revision=revision)
    note = _note(nonce)
    blocks = [_inert(b, note) for b in blocks_from_conversation(conversation, note)]
    short = elided(blocks, budget_tokens, note, results_first=results_first)
    if short is None:
        return None
    text = _text(nonce, short.blocks, _remarks(conversation, note))
    return _record(text, nonce, blocks, short)


def record_from_blocks(blocks: Sequence[Block], *, conversation: Conversation, secret: bytes, revision: int = 1) -> Record:
    """A record of chosen blocks only (a check sees the answer alone)."""
    nonce = nonce_from(conversation, secret=secret, revision=revision)
    shown = [_inert(b, _note(nonce)) for b in blocks]
    return _record(_text(nonce, shown, ()), nonce, shown, Elided(blocks=shown))


def record_from_text(content: str, *, conversation: Conversation, secret: bytes, revision: int = 1) -> Record:
    """A record of one text as it is, marked and fenced like any other: for forms of transcript that are not ours."""
    block = Block(kind=BlockKind.NOTE, header="TRANSCRIPT", text=content)
    return record_from_blocks([block], conversation=conversation, secret=secret, revision=revision)


def _record(text: str, nonce: str, whole: Sequence[Block], short: Elided) -> Record:
    tokens = block_tokens(short.blocks)
    left_out = max(0, block_tokens(whole) - tokens) if short.step else 0
    return Record(text=text, nonce=nonce, tokens=tokens, left_out_tokens=left_out, left_out_turns=short.turns, step=short.step)


def nonce_from(conversation: Conversation, *, secret: bytes, revision: int) -> str:
    """Ten hexadecimal digits that do not occur in the conversation; the same for the same secret, conversation and revision."""
    content = "\n".join(_strings(conversation))
    for counter in range(len(content) + 1):  # by then one must be free
        digest = hmac.new(secret, f"{conversation.key}\n{revision}\n{counter}".encode("utf-8", "surrogatepass"), sha256)
        nonce = digest.hexdigest()[:_NONCE_DIGITS]
        if nonce not in content:
            return nonce
    raise AssertionError("a text cannot hold more nonces than characters")


def _strings(conversation: Conversation) -> Iterable[str]:
    """Everything in the conversation that could hold a nonce."""
    yield conversation.system or ""
    yield repr(conversation.tools) if conversation.tools else ""
    for message in conversation.messages:
        yield message.text or ""
        yield message.name or ""
        for call in message.tool_calls:
            yield f"{call.name} {call.arguments!r} {call.raw}"
        if message.tool_result:
            yield f"{message.tool_result.name} {message.tool_result.content}"


def _note(nonce: str) -> inert.Note:
    return lambda text: f"⟨{nonce}: {text}⟩"


def _inert(block: Block, note: inert.Note) -> Block:
    text = inert.without_repeats(inert.visible(block.text, note), note)
    return block if text == block.text else replace(block, text=text)


def _remarks(conversation: Conversation, note: inert.Note) -> tuple[str, ...]:
    hidden = reasoning_parts(conversation.messages)
    return (note(f"{hidden} reasoning parts not shown"),) if hidden else ()


def _text(nonce: str, blocks: Iterable[Block], remarks: Iterable[str]) -> str:
    lines = [f"RECORD {nonce} BEGINS"]
    for block in blocks:
        lines.append(block.header)
        if block.text or block.kind in (BlockKind.USER, BlockKind.SAYS):
            lines += [f"| {line}" for line in block.text.splitlines() or [""]]
    return "\n".join([*lines, *remarks, f"RECORD {nonce} ENDS"])
