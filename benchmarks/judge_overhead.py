"""What scoring itself costs: conversations a second on one core with two judged metrics and a judge that answers at once.

    python benchmarks/judge_overhead.py [FOLDER]

Everything but the model is real: records rendered and fenced, questions made, the whole chain (cache, breaker, retry, repair, limit,
budget), replies parsed from text, results made. Conversations: the example of ragas' documentation, and runs of tau if FOLDER holds them
(`tau/trajectories.jsonl.gz`; default: `data` in $OTEL_EVAL_SHARED or `../shared`). Time is processor time.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from benchmarks.judge_economy import seed_examples, tau_conversations
from otel_eval.judges.base import Items, Question, Reply
from otel_eval.judges.chain import judge_chain
from otel_eval.judges.reply import answer_from_text
from otel_eval.judges.settings import JudgeSettings, Limits
from otel_eval.metrics import builtin_metric
from otel_eval.model import Conversation, JudgeUse, Reference, Score
from otel_eval.scoring import MetricRun, Settings, score_conversations

ROOT = Path(__file__).parent.parent
METRICS = ("agent_goal_accuracy", "topic_adherence_f1")
CONVERSATIONS = 1000
ROWS = {
    "goal_accuracy": {"same_as": "", "goal": "a goal", "reason": "The tool says so.", "evidence": [0], "status": "reached"},
    "topic_adherence": {
        "topic": "physics",
        "reason": "It is about it.",
        "evidence": [0],
        "in_domain": "yes",
        "domain": "d1",
        "handling": "answered",
    },
}


class Instant:
    """A model that answers at once, in text, as a real one does."""

    async def ask(self, question: Question) -> Reply:
        items = question.form.fields["requests"]
        assert isinstance(items, Items)
        text = json.dumps({"requests": [{"request": i, **ROWS[question.name]} for i in items.ids], "certainty": "clear"})
        answer, notes = answer_from_text(question.form, text)
        use = JudgeUse(kind="model", model="instant", calls=1, input_tokens=question.estimated_tokens, output_tokens=len(text) // 4)
        return Reply(answer=answer, use=use, notes=notes)


def main(folder: Path) -> None:
    print(f"{'conversations':<34}{'scored':>8}{'messages':>10}{'chars':>9}{'a second':>10}{'ms each':>9}")
    example = next(c for _, c in seed_examples())
    measure("ragas example, relativity", [example])
    if (folder / "tau").exists():
        measure("runs of tau", list(islice(tau_conversations(folder), 200)))


def measure(name: str, conversations: Sequence[Conversation]) -> float:
    """Conversations a second of processor time; each under an id of its own, so that no verdict is a cached one."""
    repeated = [conversations[n % len(conversations)] for n in range(CONVERSATIONS)]
    units = [(replace(c, id=f"{c.id}-{n}", system=f"Agent {n}."), Reference(topics=("physics",))) for n, c in enumerate(repeated)]
    start = time.process_time()
    scored = asyncio.run(_scored(units))
    took_s = time.process_time() - start
    assert scored == 2 * len(units), "a conversation was not scored"
    messages = sum(len(c.messages) for c, _ in units) / len(units)
    chars = sum(len(m.text or "") for c, _ in units for m in c.messages) / len(units)
    print(f"{name:<34}{len(units):>8}{messages:>10.0f}{chars:>9.0f}{len(units) / took_s:>10.0f}{1000 * took_s / len(units):>9.2f}")
    return len(units) / took_s


async def _scored(units: Sequence[tuple[Conversation, Reference]]) -> int:
    settings = JudgeSettings(model="instant", limits=Limits(run_tokens=10**12), start_concurrency=32)
    judge = judge_chain(Instant(), settings)
    runs = [MetricRun(metric=builtin_metric(name)) for name in METRICS]
    scored = 0
    async for report in score_conversations(units, runs, judge, Settings(secret=b"benchmark")):
        scored += sum(isinstance(r.outcome, Score) for r in report.results)
    return scored


if __name__ == "__main__":
    default = Path(os.environ.get("OTEL_EVAL_SHARED", ROOT.parent / "shared")) / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
