"""Agreement of the embedded heuristic judge with real outcomes: the runs of tau and tau2, labelled by the state of a simulated database.

    python benchmarks/heuristic_judge.py [FOLDER]

FOLDER holds `tau/trajectories.jsonl.gz` and, if there, `tau2_judge_verdicts/verdicts.jsonl.gz` (default: `data` in $OTEL_EVAL_SHARED or
`../shared`). Runs whose label is known to be doubtful, and runs without a user, are left out. A request that the agent declines by its
policy counts as reached, as the suite's own reward does. kappa is Cohen's; always saying yes has kappa 0.
"""

import asyncio
import gzip
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent))

from otel_eval.judges.heuristic import HeuristicJudge
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Conversation, Message, Part, Score, Text, ToolCall, ToolResult

Pair: TypeAlias = tuple[bool, bool]
"""Verdict and label."""

_CONTROL = re.compile(r"###[A-Z-]+###")
"""Words of the simulated user to its simulator."""


def main(folder: Path) -> None:
    rows = [r for r in _lines(folder / "tau" / "trajectories.jsonl.gz") if not r["label_doubtful"] and r["mode"] == "dialogue"]
    policies = json.loads((folder / "tau" / "policies.json").read_text(encoding="utf-8"))
    verdicts = asyncio.run(_verdicts(rows, policies))
    print(f"{'judge':<38}{'domain':<10}{'runs':>6}{'judged':>8}{'kappa':>8}{'agree':>8}{'yes agrees':>12}{'TPR':>7}{'TNR':>7}")
    _print("heuristic-1", [(r["domain"], verdicts[r["id"]], r["success"]) for r in rows])
    measured = folder / "tau2_judge_verdicts" / "verdicts.jsonl.gz"
    if measured.exists():
        _print_measured(list(_lines(measured)), verdicts)


async def _verdicts(rows: Sequence[Mapping[str, Any]], policies: Mapping[str, Any]) -> dict[str, bool | None]:
    metric, judge = builtin_metric("agent_goal_accuracy"), HeuristicJudge()
    found: dict[str, bool | None] = {}
    for row in rows:
        conversation = conversation_from_run(row, policies)
        given = MetricInput(conversation=conversation, judge=judge, parameters={"blocked": "pass"}, record_tokens=10**9)
        outcome = await metric.score(given)
        found[row["id"]] = outcome.value == 1 if isinstance(outcome, Score) else None
    return found


def conversation_from_run(row: Mapping[str, Any], policies: Mapping[str, Any]) -> Conversation:
    """A run as an agent's trace would show it: the user's own phone and the simulator's control words are not in it."""
    messages = [m for raw in row["messages"] if raw.get("requestor") != "user" and (m := _message(raw)).parts]
    policy = policies.get(row["policy_id"])
    return Conversation(
        id=row["id"], messages=tuple(messages), system=policy if isinstance(policy, str) else json.dumps(policy), joined_by="given"
    )


def _message(raw: Mapping[str, Any]) -> Message:
    text = _CONTROL.sub("", raw["content"] or "").strip()
    if raw["role"] == "tool":
        result = ToolResult(call_id=raw.get("tool_call_id"), name=raw.get("name"), content=raw["content"] or "", is_error=raw.get("error"))
        return Message(role="tool", parts=(result,))
    parts: list[Part] = [Text(text=text)] if text else []
    if raw["role"] == "assistant":
        parts += [ToolCall(id=c.get("id"), name=c["name"], arguments=c["arguments"]) for c in raw.get("tool_calls") or []]
    return Message(role=raw["role"], parts=tuple(parts))


def _print(judge: str, rows: Iterable[tuple[str, bool | None, bool]]) -> None:
    by_domain: dict[str, list[tuple[bool | None, bool]]] = defaultdict(list)
    for domain, verdict, label in rows:
        by_domain[domain].append((verdict, label))
    for domain, found in sorted(by_domain.items()):
        pairs = [(verdict, label) for verdict, label in found if verdict is not None]
        print(f"{judge:<38}{domain:<10}{len(found):>6}{len(pairs):>8}{kappa(pairs):>8.3f}{_agreement(pairs):>8.3f}", end="")
        print(f"{_share(pairs):>12.3f}{_rate(pairs, True):>7.2f}{_rate(pairs, False):>7.2f}")


def _print_measured(rows: Sequence[Mapping[str, Any]], verdicts: Mapping[str, bool | None]) -> None:
    """The measured model judges, and the heuristic judge on the very same runs."""
    print()
    for prompt in sorted({r["judge_prompt_name"] for r in rows}):
        _print(f"gpt-4o, {prompt}", [(r["domain"], r["verdict_pass"], r["success"]) for r in rows if r["judge_prompt_name"] == prompt])
    same = {r["trajectory_id"]: r for r in rows}
    _print("heuristic-1 on the same runs", [(r["domain"], verdicts[i], r["success"]) for i, r in same.items() if i in verdicts])


def kappa(pairs: Sequence[Pair]) -> float:
    """Cohen's kappa of verdict and label; 0 where one of them never varies."""
    if not pairs:
        return 0.0
    agree, yes, true = _agreement(pairs), sum(v for v, _ in pairs) / len(pairs), _share(pairs)
    chance = yes * true + (1 - yes) * (1 - true)
    return (agree - chance) / (1 - chance) if chance < 1 else 0.0


def _agreement(pairs: Sequence[Pair]) -> float:
    return sum(v == label for v, label in pairs) / max(1, len(pairs))


def _share(pairs: Sequence[Pair]) -> float:
    return sum(label for _, label in pairs) / max(1, len(pairs))


def _rate(pairs: Sequence[Pair], label: bool) -> float:
    """Share of the runs with this label that got it as their verdict."""
    found = [v == label for v, lab in pairs if lab == label]
    return sum(found) / max(1, len(found))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    default = Path(os.environ.get("OTEL_EVAL_SHARED", Path(__file__).parent.parent.parent / "shared")) / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
