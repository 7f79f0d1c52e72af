"""Text that UTF-8 can write: halves of surrogate pairs, left where text was cut inside a character, become U+FFFD."""

from typing import Any


def whole(text: str) -> str:
    """The text with each half of a pair as U+FFFD; two halves that belong together become their character."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_value(value: Any) -> Any:
    """The same for every text in lists, tuples and dicts, keys too; anything else as it is."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole_value(k): whole_value(v) for k, v in value.items()}
    return type(value)(map(whole_value, value)) if type(value) in (list, tuple) else value
