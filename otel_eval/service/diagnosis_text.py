"""A diagnosis in words: the verdict first, then short lists; a part that has nothing to say is left out."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from otel_eval.service.diagnosis import Diagnosis

_NAMES = 8  # attribute names shown; more stand in the JSON
_LABEL = 15


def lines_from_diagnosis(diagnosis: Diagnosis, width: int = 100) -> Iterator[str]:
    """The lines of a diagnosis, none longer than `width` where words allow it."""
    yield from _wrapped(f"Ready to score: {diagnosis.ready}. {_sentence(diagnosis.why)}", "", width)
    parts = {
        "Found": _found(diagnosis),
        "Content": _content(diagnosis),
        "Missing": _missing(diagnosis),
        "What to switch on": _remedies(diagnosis),
        "Not understood": _not_understood(diagnosis),
        "Left out": _left_out(diagnosis),
        "Notes": ((note, "") for note in diagnosis.notes),
    }
    for title, pairs in parts.items():
        listed = [line for label, text in pairs for line in _item(label, text, width)]
        if listed:
            yield from ["", title, *listed]


def _item(label: str, text: str, width: int) -> Iterable[str]:
    """`  label   text`; without a text the label is wrapped by itself."""
    return _wrapped(f"  {label:<{_LABEL}} {text}", " " * (_LABEL + 3), width) if text else _wrapped(f"  {label}", "    ", width)


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())


def _found(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    found = diagnosis.found
    yield "files", str(found.files)
    yield "spans", f"{found.spans}; traces {found.traces}; log records {found.log_records}"
    if found.dialects:
        yield "dialects", _counts(found.dialects)
        yield "steps", _counts(found.steps)
    kinds = {"given in JSON": found.given, "of sub-agents": found.sub_agents}
    apart = ", ".join(f"{n} {what}" for what, n in kinds.items() if n)
    yield "conversations", f"{found.conversations} ({apart})" if apart else str(found.conversations)


def _content(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    c = diagnosis.content
    if c.model_calls:
        failed = f" ({c.failed} failed)" if c.failed else ""
        yield "model calls", f"{c.model_calls}: input of {c.with_input}, output of {c.with_output}{failed}"
    if c.tool_calls:
        yield "tool calls", f"{c.tool_calls}: arguments of {c.with_arguments}, result of {c.with_result}"
    if c.conversations:
        yield "conversations", f"{c.conversations}: words of user and agent in {c.with_words}, id of {c.with_id}"
        yield "joined by", _counts(c.joined_by)


def _missing(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    for gap in diagnosis.gaps:
        some = "1 conversation" if gap.conversations == 1 else f"{gap.conversations} conversations"
        yield f"{gap.reason} in {some}, at {_some(gap.places)}: {gap.sentence}", ""


def _remedies(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    for remedy in diagnosis.remedies:
        yield f"{remedy.instrumentation} ({remedy.lacking}):", ""
        yield f"  {remedy.switch}", ""


def _not_understood(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    said = diagnosis.not_understood
    if said.spans:
        yield f"{said.spans} spans that no dialect speaks for, with the attributes {_some(said.names)}", ""
    if said.ordinary_spans:
        yield f"{said.ordinary_spans} spans of other kinds (HTTP, databases, …): no fault", ""


def _left_out(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    out = diagnosis.left_out
    said = {
        "spans and log records that came more than once": out.repeated,
        "model calls and tool runs that a second instrumentation recorded": out.duplicate_calls,
        "traces that only repeat calls of other traces": out.duplicate_traces,
        "spans of an evaluator or a guardrail": out.evaluator_spans,
        "spans that came twice with different content: the one that ended later is used": out.conflicts,
        "log records without trace and span id": out.loose_logs,
        "conversations in JSON that are not as their form has it": out.unreadable_conversations,
        **{f"rejected: {reason}{_places(out.rejected_at.get(reason, ()), n)}": n for reason, n in out.rejected.items()},
    }
    yield from ((f"{n} {what}", "") for what, n in said.items() if n)


def _places(places: tuple[str, ...], count: int) -> str:
    """Where rejected items stand, in brackets."""
    return f" ({'; '.join(places)}{'; …' if len(places) < count else ''})" if places else ""


def _some(names: Iterable[str]) -> str:
    """The first names; names are the producer's, and what cannot be printed is left out of them."""
    listed = ["".join(c for c in name if c.isprintable()) for name in names]
    return ", ".join(listed[:_NAMES]) + (f" and {len(listed) - _NAMES} more" if len(listed) > _NAMES else "")
