"""The probability that a judge gave to its verdict, from the log-probabilities of tokens, where an endpoint sends them.

Servers give those from before the grammar that forces the format, so a forced token can show little mass while several spellings of the
options share the rest. So: sum over spellings, and say nothing unless the options hold at least half of the mass.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.judges.form import Form, Items, Words

_LEAST_MASS = 0.5


def verdict_probability(form: Form, text: str, tokens: Any, answer: Mapping[str, Any]) -> float | None:
    """P(the answered word) among the words of the form's one verdict; None where there is no such field, no tokens or too little mass."""
    name = _verdict_field(form)
    if name is None or not isinstance(tokens, list):
        return None
    words = form.fields[name]
    assert isinstance(words, Words)
    at = _value_start(text, name)
    alternatives = _alternatives(tokens, at) if at is not None else None
    return _share(words.options, str(answer.get(name)), alternatives) if alternatives else None


def _verdict_field(form: Form) -> str | None:
    """The one list of words that decides: not optional, not among items."""
    if any(isinstance(f, Items) for f in form.fields.values()):
        return None
    names = [name for name, f in form.fields.items() if isinstance(f, Words) and not f.optional]
    return names[0] if len(names) == 1 else None


def _value_start(text: str, name: str) -> int | None:
    """Where the value of the last field of this name begins in the text, behind its quote."""
    found = list(re.finditer(rf"{re.escape(json.dumps(name))}\s*:\s*\"?\s*", text))
    return found[-1].end() if found else None


def _alternatives(tokens: Sequence[Any], at: int) -> list[tuple[str, float]] | None:
    """What could have stood at this place: text from there on, and its probability."""
    start = 0
    for token in tokens:
        word = token.get("token") if isinstance(token, Mapping) else None
        if not isinstance(word, str):
            return None
        if start <= at < start + len(word):
            lead = at - start
            top = token.get("top_logprobs") or [token]
            return [(t["token"][lead:], math.exp(t["logprob"])) for t in top if isinstance(t, Mapping) and _is_token(t, word[:lead])]
        start += len(word)
    return None


def _is_token(token: Mapping[str, Any], lead: str) -> bool:
    return isinstance(token.get("token"), str) and isinstance(token.get("logprob"), int | float) and token["token"].startswith(lead)


def _share(options: Sequence[str], answered: str, alternatives: Sequence[tuple[str, float]]) -> float | None:
    mass = dict.fromkeys(options, 0.0)
    for text, probability in alternatives:
        word = text.strip().strip('"').casefold()
        fitting = [o for o in options if word and (o.startswith(word) or word.startswith(o))]
        if len(fitting) == 1:
            mass[fitting[0]] += probability
    total = sum(mass.values())
    return mass[answered] / total if total >= _LEAST_MASS and answered in mass else None
