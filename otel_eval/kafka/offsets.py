"""How far a partition is finished: a floor below which everything is, and which offsets above it are, too.

Messages are finished in any order: one waits for its conversation to be over, the next is done at once. What is committed is the floor
as the group's offset and the finished offsets above it as a bitmap in the commit's metadata, so that who takes over reads again what was
unfinished and nothing else. Pure.

A bit of the mask stands for an offset from the floor on: 1 finished, 0 not. Offsets that the log does not have count as finished.
"""

import binascii
import zlib
from base64 import b85decode, b85encode
from dataclasses import dataclass

MOST_METADATA_BYTES = 4_000
"""A broker takes 4,095 bytes (`offset.metadata.max.bytes` is 4,096)."""
_VERSION = "1:"
_MOST_BITS = 1 << 26
"""No mask that we write is nearly so wide; metadata of another program must not fill the memory."""


@dataclass(slots=True)
class Offsets:
    """The offsets of one partition that were read, as far as they matter."""

    floor: int
    """Everything below it is finished; committed as the group's offset."""
    next: int
    """The offset that is read next."""
    is_wide: bool = False
    """Whether the last metadata was nearly full: then nothing more should be read before the floor has moved."""
    _mask: int = 0

    def read(self, offset: int) -> bool:
        """Note a message that was read; False where it is finished already and must be passed by."""
        place = offset - self.floor
        if place < 0 or self._mask >> place & 1:
            self.next = max(self.next, offset + 1)
            return False
        if self.floor == self.next:
            self._jump(offset)
        elif offset > self.next:  # a hole in the log: nothing will ever stand there
            hole = (1 << (offset - self.next)) - 1
            self._mask |= hole << (self.next - self.floor)
            self._rise()
        self.next = max(self.next, offset + 1)
        return True

    def _jump(self, offset: int) -> None:
        """Nothing is unfinished: the floor goes to where reading goes on, however far that is (what stood between was deleted)."""
        self._mask >>= offset - self.floor
        self.floor = offset

    def finish(self, offset: int) -> None:
        """A message is finished. Harmless for one that is."""
        place = offset - self.floor
        if place >= 0:
            self._mask |= 1 << place
        if place == 0:
            self._rise()

    def _rise(self) -> None:
        """Move the floor up over what is finished."""
        steps = (~self._mask & (self._mask + 1)).bit_length() - 1
        if steps:
            self._mask >>= steps
            self.floor += steps
            self.next = max(self.next, self.floor)

    @property
    def width(self) -> int:
        """How far reading is ahead of the floor, in offsets."""
        return self.next - self.floor

    @property
    def unfinished(self) -> int:
        """Messages that were read and are not finished."""
        return self.width - (self._mask & ((1 << self.width) - 1)).bit_count()

    def metadata(self) -> str:
        """The finished offsets above the floor, for the commit; empty where there are none.

        Where all of them do not fit, those nearest to the floor: the others are read again by who takes over.
        """
        mask = self._mask
        self.is_wide = len(text_from_mask(mask)) > MOST_METADATA_BYTES * 3 // 4
        while len(text := text_from_mask(mask)) > MOST_METADATA_BYTES:
            mask &= (1 << mask.bit_length() * MOST_METADATA_BYTES // (len(text) + 1)) - 1
        return text


def offsets_from_commit(offset: int, metadata: str | None) -> Offsets:
    """Where a group is, from what it committed."""
    offsets = Offsets(floor=offset, next=offset, _mask=mask_from_text(metadata or ""))
    offsets._rise()
    return offsets


def text_from_mask(mask: int) -> str:
    """A mask as short text."""
    if not mask:
        return ""
    return _VERSION + b85encode(zlib.compress(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), 9)).decode()


def mask_from_text(text: str) -> int:
    """The mask of a text. What another program wrote says nothing, and everything from the offset on is read again."""
    if not text.startswith(_VERSION):
        return 0
    try:
        packed = b85decode(text.removeprefix(_VERSION))
        return int.from_bytes(zlib.decompressobj().decompress(packed, _MOST_BITS // 8), "little")
    except (ValueError, zlib.error, binascii.Error):
        return 0
