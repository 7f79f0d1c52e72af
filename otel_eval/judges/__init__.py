"""Judges: who answers a metric's question. One file and one line each; nothing but this table is loaded until a judge is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from otel_eval.judges.base import Judge
from otel_eval.judges.settings import JudgeSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCard:
    """What a judge is. Documents are made from it."""

    name: str
    sentence: str
    needs: str
    place: str
    """Where the class stands that is made from `JudgeSettings`."""
    network: bool = True
    agreement: str | None = None
    """How well its verdicts agree with real outcomes, and how that was measured; None where it depends on the model."""


BUILTIN: Mapping[str, JudgeCard] = {
    card.name: card
    for card in (
        JudgeCard(
            name="heuristic",
            sentence="Rules instead of a model: deterministic, explained, in seven languages; says cannot_tell in any other.",
            needs="nothing",
            place="otel_eval.judges.heuristic:HeuristicJudge",
            network=False,
            agreement=(
                "Goal accuracy on 725 labelled runs of tau and tau2 (dialogue, doubtful labels left out): kappa 0.13 airline, 0.26 retail, "
                "0.46 telecom; it decides 86 % of them and says cannot_tell on the rest. Always saying yes has kappa 0; by plain "
                "agreement it is better than that in airline (0.60 against 0.59) and telecom (0.77 against 0.36), not in retail (0.63 "
                "against 0.69). gpt-4o with four prompts has -0.12 to 0.42, 0.09 to 0.34 and 0.29 to 0.78 on a part of the same runs. "
                "`python benchmarks/heuristic_judge.py` prints the table."
            ),
        ),
        JudgeCard(
            name="openai",
            sentence="Any OpenAI-compatible chat endpoint, with structured output where it is understood.",
            needs="--judge-model, and OPENAI_API_KEY where the endpoint wants a key",
            place="otel_eval.judges.openai:OpenAIJudge",
        ),
        JudgeCard(
            name="decisions",
            sentence="A decision endpoint (`/v1/decisions`, `/v1/systemone`): probabilities, no reasons; the first stage of a cascade.",
            needs="--judge-model, and a key",
            place="otel_eval.judges.decisions:DecisionsJudge",
        ),
        JudgeCard(
            name="local",
            sentence="A model from a GGUF file, served in this process on loopback: content never leaves the machine.",
            needs="local:PATH of the file, and the extra `local` (pip install 'otel-eval[local]')",
            place="otel_eval.judges.local:LocalJudge",
            network=False,
        ),
    )
}
"""Name → card."""


def builtin_judge(name: str, settings: JudgeSettings) -> Judge:
    """The built-in judge of that name, without the chain around it; KeyError where there is none."""
    module, _, place = BUILTIN[name].place.partition(":")
    judge: Judge = getattr(import_module(module), place)(settings)
    return judge
