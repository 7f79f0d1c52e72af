"""Where readers write down what they could not read."""

import re

from otel_eval.model import Gap, GapReason, SpanRef

# Placeholders that stand for content somebody took out. Compared with the whole text, lower-cased and stripped. **Source**: OpenInference
# `__REDACTED__`, google-genai `<elided>`, openai-agents-v2 `readacted` (sic), Collector redaction processors.
REDACTED_TEXTS = frozenset(
    {
        "__redacted__",
        "<elided>",
        "readacted",
        "redacted",
        "[redacted]",
        "<redacted>",
        "{redacted}",
        "***redacted***",
        "[filtered]",
        "<hidden>",
        "[hidden]",
        "****",
        "*****",
        "[scrubbed]",
        "<content omitted>",
        "[content omitted]",
    }
)
LONGEST_PLACEHOLDER = max(map(len, REDACTED_TEXTS)) + 4
"""Longer texts are no placeholder, white space around it included."""


def is_redacted(text: str) -> bool:
    """Whether the whole text is a placeholder for content that was taken out."""
    return len(text) <= LONGEST_PLACEHOLDER and text.strip().lower() in REDACTED_TEXTS


_DIGEST = re.compile("[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128}", re.IGNORECASE)


def is_digest(text: str) -> bool:
    """Whether the whole text is a hash that stands for content (the Collector's redaction processor): asked only of whole message lists."""
    return _DIGEST.fullmatch(text) is not None


class Notes:
    """Gaps met while reading one span. `at` is the name of the attribute or event being read."""

    __slots__ = ("at", "gaps", "source")

    def __init__(self, source: SpanRef | None = None, at: str = "") -> None:
        self.source = source
        self.at = at
        self.gaps: list[Gap] = []

    def add(self, reason: GapReason, where: str | None = None) -> None:
        """Note a gap once per reason and place."""
        gap = Gap(reason=reason, where=where or self.at, source=self.source)
        if gap not in self.gaps:
            self.gaps.append(gap)

    @property
    def truncated(self) -> bool:
        return any(g.reason is GapReason.TRUNCATED for g in self.gaps)
