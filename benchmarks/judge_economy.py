"""What judging costs: calls and prompt characters of topic adherence and goal accuracy on one conversation, against ragas 0.4.3.

    python benchmarks/judge_economy.py [FOLDER]

The conversations are the two examples of ragas' documentation and 100 runs of tau (FOLDER holds `tau/trajectories.jsonl.gz`; default:
`data` in $OTEL_EVAL_SHARED or `../shared`). Ours are the prompts as they go out, with and without the schema beside them. Those of ragas
are computed from its fixed parts, measured on its own requests: topic adherence (n + 1)(2650 + c) + 1730 characters in n + 2 calls
for n topics and a transcript of c, goal accuracy 4420 + c + two sentences in 2 calls. n is 3, as in its documented example. Characters
stand for tokens on both sides.
"""

import asyncio
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from benchmarks.heuristic_judge import conversation_from_run
from otel_eval.errors import JudgeError
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.form import schema_from_form
from otel_eval.judges.openai import messages_from_question
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.ragas_transcript import ragas_transcript
from otel_eval.model import Conversation, Reference
from otel_eval.scoring import MetricRun, Settings, score_conversation
from tests.fakes.cases import conversation_of

ROOT = Path(__file__).parent.parent
TOPICS = 3
SENTENCES = 200
"""Characters of the goal and the end state that ragas puts into its comparison."""
RUNS = 100
METRICS = ("agent_goal_accuracy", "topic_adherence_precision", "topic_adherence_recall", "topic_adherence_f1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One conversation: calls and characters, ours and theirs, and the share of our second prompt that is the first one's beginning."""

    calls: int
    prompt_chars: int
    schema_chars: int
    ragas_calls: int
    ragas_chars: int
    shared_prefix: float


class Listener:
    """Keeps the questions it is asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        raise JudgeError("judge_unavailable", "only listening")


def main(folder: Path) -> None:
    print(f"{'conversations':<34}{'calls':>7}{'chars':>9}{'schema':>8}{'ragas':>7}{'chars':>9}{'share':>8}{'with schema':>13}{'prefix':>8}")
    for name, conversation in seed_examples():
        _print(name, [asyncio.run(cost_of(conversation))])
    runs = list(islice(tau_conversations(folder), RUNS))
    _print(f"{len(runs)} runs of tau, mean", [asyncio.run(cost_of(c)) for c in runs])


async def cost_of(conversation: Conversation) -> Cost:
    """The questions of both metrics on one conversation, as they would go out."""
    listener = Listener()
    runs = [MetricRun(metric=builtin_metric(name)) for name in METRICS]
    await score_conversation(conversation, Reference(topics=("physics",)), runs, listener, Settings(secret=b"benchmark"))
    prompts = ["".join(m["content"] for m in messages_from_question(q)) for q in listener.asked]
    transcript = len(ragas_transcript(conversation))
    return Cost(
        calls=len(prompts),
        prompt_chars=sum(map(len, prompts)),
        schema_chars=sum(len(json.dumps(schema_from_form(q.form))) for q in listener.asked),
        ragas_calls=TOPICS + 2 + 2,
        ragas_chars=(TOPICS + 1) * (2650 + transcript) + 1730 + 4420 + transcript + SENTENCES,
        shared_prefix=common_prefix(prompts[0], prompts[1]) / len(prompts[1]),
    )


def common_prefix(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    return next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))


def seed_examples() -> Iterator[tuple[str, Conversation]]:
    """The conversations of ragas' documentation, from the parity cases."""
    wanted = {"ta-seed-precision": "ragas example, relativity", "gr-seed": "ragas example, restaurant"}
    found: set[str] = set()
    for line in (ROOT / "tests" / "data" / "cases" / "ragas-parity.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        name = next((n for n in wanted if case["id"].startswith(n)), None)
        if name is not None and name not in found:
            found.add(name)
            yield wanted[name], conversation_of(case)


def tau_conversations(folder: Path) -> Iterator[Conversation]:
    """Runs with a user, as messages only: ragas has no place for the system message, so it is left out on both sides."""
    with gzip.open(folder / "tau" / "trajectories.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["mode"] == "dialogue":
                yield conversation_from_run(row, {row["policy_id"]: ""})


def _print(name: str, costs: Sequence[Cost]) -> None:
    def mean(member: str) -> float:
        return float(sum(getattr(c, member) for c in costs)) / len(costs)

    prompt, schema, ragas = mean("prompt_chars"), mean("schema_chars"), mean("ragas_chars")
    prefix = min(c.shared_prefix for c in costs)
    print(
        f"{name:<34}{mean('calls'):>7.0f}{prompt:>9.0f}{schema:>8.0f}{mean('ragas_calls'):>7.0f}{ragas:>9.0f}"
        f"{prompt / ragas:>8.2f}{(prompt + schema) / ragas:>13.2f}{prefix:>8.2f}"
    )


if __name__ == "__main__":
    default = Path(os.environ.get("OTEL_EVAL_SHARED", ROOT.parent / "shared")) / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
