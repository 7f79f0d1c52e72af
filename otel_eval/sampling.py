"""Which units are worth a judge's time, and with what probability: consistent, stated, and combined with what was sampled before us.

A unit's randomness R is 56 bits of a salted hash of the conversation's id, so that all its turns, all workers and every restart agree; a
unit without an
id takes its trace's randomness (the `rv` of its tracestate, else the last 7 bytes of the trace id), which agrees with the samplers of
OpenTelemetry.
A rate p keeps R ≥ (1 − p) · 2⁵⁶; lower rates keep subsets of what higher ones keep, so metrics with rates of their own nest.

**Source**: OpenTelemetry specification, `trace/tracestate-probability-sampling.md` (thresholds, randomness); research on conversation
sampling.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Literal

from otel_eval.model import Conversation

BITS = 56
SPACE = 1 << BITS
_THRESHOLD = re.compile(r"(?:^|;)th:([0-9a-f]{1,14})(?:;|$)")
_RANDOM = re.compile(r"(?:^|;)rv:([0-9a-f]{14})(?:;|$)")
Queue = Literal["estimate", "triage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What a trace's tracestate says of sampling before us; None where it says nothing (which is not "everything")."""

    threshold: int | None = None
    randomness: int | None = None

    @property
    def probability(self) -> float | None:
        """The probability with which the trace was kept before us."""
        return None if self.threshold is None else (SPACE - self.threshold) / SPACE


UNKNOWN = Upstream()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an operator asks for. Empty filters let everything pass."""

    rate: float = 1.0
    salt: str = ""
    agents: tuple[str, ...] = ()
    """Names or globs; so are `services` and the values of `attributes`."""
    services: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    min_turns: int = 0
    only_errors: bool = False
    always_keep: Mapping[str, str] = field(default_factory=dict)
    """Attributes whose value keeps a unit whatever the rate: judged, marked as triage, outside every rate."""
    triage_share: float = 0.2
    """Share of the judged units that goes to triage; the rest estimates."""

    @property
    def attribute_names(self) -> frozenset[str]:
        """Names of the attributes that decide."""
        return frozenset({*self.attributes, *self.always_keep})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of a unit in selection, and why. `probability` is our own inclusion probability in the queue that took it."""

    queue: Queue | None
    probability: float | None
    reason: str
    upstream_probability: float | None = None


def upstream_from_tracestate(tracestate: str) -> Upstream:
    """The OpenTelemetry member of a W3C tracestate; UNKNOWN where there is none or it is malformed."""
    member = next((m.strip()[3:] for m in tracestate.split(",") if m.strip().startswith("ot=")), None)
    if member is None:
        return UNKNOWN
    threshold, randomness = _THRESHOLD.search(member), _RANDOM.search(member)
    return Upstream(
        threshold=int(threshold.group(1).ljust(14, "0"), 16) if threshold else None,
        randomness=int(randomness.group(1), 16) if randomness else None,
    )


def randomness_of(conversation_id: str | None, trace_id: str, salt: str, upstream: Upstream = UNKNOWN) -> int:
    """R of a unit, in [0, 2⁵⁶)."""
    if conversation_id is not None:
        digest = sha256(f"{salt}\x00{conversation_id}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:7], "big")
    if upstream.randomness is not None:
        return upstream.randomness
    return int(trace_id[-14:], 16)


def is_kept(randomness: int, rate: float) -> bool:
    """Whether a rate keeps this randomness."""
    return randomness >= SPACE - round(rate * SPACE)


def decide(
    conversation: Conversation, rules: Rules, *, service: str | None = None, upstream: Upstream = UNKNOWN, triage_reason: str | None = None
) -> Decision:
    """Whether a unit is judged, in which queue, and why (not).

    A unit without an id that was sampled before us at p_s is kept proportionally: R is uniform in what was kept, so our rate applies to
    that part and the
    whole probability is p · p_s.
    """
    refused = filter_reason(conversation, rules, service)
    known = upstream.probability
    if refused is not None:
        return Decision(queue=None, probability=None, reason=refused, upstream_probability=known)
    if _matches(conversation.attributes, rules.always_keep) and rules.always_keep:
        return Decision(queue="triage", probability=1.0, reason="always_keep", upstream_probability=known)
    randomness = randomness_of(conversation.id, conversation.trace_ids[0] if conversation.trace_ids else "0", rules.salt, upstream)
    if conversation.id is None and upstream.threshold:
        randomness = _spread(randomness, upstream.threshold)
    if is_kept(randomness, rules.rate):
        return Decision(queue="estimate", probability=rules.rate, reason="sampled", upstream_probability=known)
    if triage_reason is not None and rules.triage_share > 0:
        return Decision(queue="triage", probability=1.0, reason=triage_reason, upstream_probability=known)
    return Decision(queue=None, probability=rules.rate, reason="sampled_out", upstream_probability=known)


def _spread(randomness: int, threshold: int) -> int:
    """Randomness that is uniform in [threshold, 2⁵⁶) spread over the whole space; below it (a lying tracestate) it stays."""
    if randomness < threshold:
        return randomness
    return (randomness - threshold) * SPACE // (SPACE - threshold)


def filter_reason(conversation: Conversation, rules: Rules, service: str | None) -> str | None:
    """The filter that a unit does not pass; None where it passes all."""
    if rules.agents and not any(_any_glob(a, rules.agents) for a in conversation.agents or ("",)):
        return "agent"
    if rules.services and not _any_glob(service or "", rules.services):
        return "service"
    if rules.attributes and not _matches(conversation.attributes, rules.attributes):
        return "attributes"
    if len(conversation.turns) < rules.min_turns:
        return "min_turns"
    if rules.only_errors and not any(r.is_error for r in conversation.tool_runs) and not conversation.failed_attempts:
        return "only_errors"
    return None


def _any_glob(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, p) for p in patterns)


def _matches(attributes: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    """Whether every wanted attribute is there with a value that fits its glob."""
    return all(k in attributes and fnmatchcase(str(attributes[k]), v) for k, v in wanted.items())
