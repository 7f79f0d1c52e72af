"""What a user asks `otel-eval score` for, and the plan that comes of it: everything is checked before the first question."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from otel_eval.errors import ConfigError
from otel_eval.judges.chain import Books
from otel_eval.judges.settings import NO_LIMITS, Limits, Price
from otel_eval.metrics.adk.config import metrics_from_eval_config
from otel_eval.model import Conversation, Reference
from otel_eval.scoring import MetricRun, unit_key
from otel_eval.service.config import Config
from otel_eval.service.config.load import load_config
from otel_eval.service.config.sections import ScoringConfig
from otel_eval.service.convert import Conversion
from otel_eval.service.judge_choice import HEURISTIC, LOCAL, JudgeChoice, judge_from_options, with_first_stage
from otel_eval.service.judge_config import judge_from_config, judge_kind, judge_settings
from otel_eval.service.metric_choice import default_names, labels_of, run_from_text, run_of
from otel_eval.service.references import NO_REFERENCES, References, references_from_file
from otel_eval.service.score.checks import checks_beside, checks_from_text
from otel_eval.service.score.resume import Earlier
from otel_eval.service.text_file import text_of_file
from otel_eval.service.topics import Topics

_KEYS_TOLD = 3
_LOCAL_DEADLINE_S = 1800.0
"""For one conversation with a model on this machine; reading a long record takes it minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command, as they were given."""

    paths: tuple[Path, ...]
    metrics: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    judge: str | None = None
    judge_model: str | None = None
    first_judge: str | None = None
    samples: int = 1
    base_url: str | None = None
    format: str = "table"
    otlp_endpoint: str | None = None
    references: Path | None = None
    task_key: str | None = None
    join_by_history: bool = False
    config: Path | None = None
    compat: str | None = None
    checks: tuple[str, ...] = ()
    eval_config: Path | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    price: str | None = None
    concurrency: int = 16
    out: Path | None = None
    fail_under: tuple[str, ...] = ()
    max_failed: float | None = None
    junit: Path | None = None
    markdown: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be scored, with what, by whom."""

    units: Sequence[tuple[Conversation, Reference]]
    runs: Sequence[MetricRun]
    beside: Mapping[int, Sequence[MetricRun]] = field(default_factory=dict)
    """Checks of single conversations, by the conversation's identity."""
    judge: JudgeChoice
    deadline_s: float
    record_tokens: int

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics, in order."""
        own = (run.metric.card.name for runs in self.beside.values() for run in runs)
        return tuple(dict.fromkeys([*(run.metric.card.name for run in self.runs), *own]))

    def remarks(self, prepared: "Prepared") -> Iterator[str]:
        """What is probably not as it was meant."""
        keys = Counter(unit_key(conversation) for conversation, _ in self.units)
        shared = [key for key, count in keys.items() if count > 1]
        if shared:
            some = ", ".join(map(repr, shared[:_KEYS_TOLD])) + (", …" if len(shared) > _KEYS_TOLD else "")
            yield f"{len(shared)} ids stand for more than one conversation each ({some}): their results cannot be told apart by id"
        if prepared.dataset.by_key and not prepared.dataset.names_any(self.units):
            yield "no conversation has a line in the dataset: lines are found by conversation id, task or trace id"

    def runs_of(self, conversation: Conversation) -> list[MetricRun]:
        return [*self.runs, *self.beside.get(id(conversation), ())]

    def remaining(self, earlier: Earlier) -> list[tuple[Conversation, Reference]]:
        """The units for which a result is missing."""
        return [(c, r) for c, r in self.units if earlier.missing(c, self.runs_of(c))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What the options come to without any input: all that can be wrong with them is found here, before the first byte is read."""

    config: Config | None
    runs: Sequence[MetricRun]
    """The metrics that are named; empty where all that apply are meant."""
    dataset: References
    topics: Topics
    judge: JudgeChoice
    deadline_s: float
    record_tokens: int


def prepared_from_options(options: Options, environ: Mapping[str, str]) -> Prepared:
    """ConfigError or InputError for the first thing that is wrong with the options."""
    config = load_config(options.config, environ).config if options.config else None
    scoring = config.scoring if config else ScoringConfig()
    runs = _named_runs(options, config)
    labels_of(runs)
    named = options.references or (Path(scoring.references) if scoring.references else None)
    dataset = references_from_file(named) if named else NO_REFERENCES
    chosen = _judge(options, config, environ)
    return Prepared(
        config=config,
        runs=runs,
        dataset=dataset,
        topics=Topics(all=options.topics) if options.topics else Topics(all=scoring.topics, by_agent=scoring.agent_topics),
        judge=chosen,
        deadline_s=_LOCAL_DEADLINE_S if chosen.kind == "local" else scoring.deadline,
        record_tokens=scoring.record_tokens,
    )


def plan_from_conversion(options: Options, prepared: Prepared, conversion: Conversion) -> Plan:
    """The plan for these conversations. ConfigError for checks beside them that cannot be run."""
    units = list(_units(options, prepared, conversion))
    beside = {id(c): found for c in conversion.conversations if (found := checks_beside(conversion.beside(c)))}
    runs = prepared.runs
    if not runs and not beside:
        runs = [run_from_text(name, compat=options.compat) for name in default_names(r for _, r in units)]
    for own in beside.values():
        labels_of([*runs, *own])
    return Plan(
        units=units, runs=runs, beside=beside, judge=prepared.judge, deadline_s=prepared.deadline_s, record_tokens=prepared.record_tokens
    )


def _judge(options: Options, config: Config | None, environ: Mapping[str, str]) -> JudgeChoice:
    """The judge of the command line; with a configuration its section, where options change what they name."""
    price, limits, books = _price(options.price), _limits(options), Books()
    if options.judge == HEURISTIC or (config is None and options.judge is None and options.judge_model is None):
        _refuse_options_of_models(options)
    if config is None:
        return judge_from_options(
            judge=options.judge,
            model=options.judge_model,
            base_url=options.base_url,
            environ=environ,
            limits=limits,
            price=price,
            samples=options.samples,
            first=options.first_judge,
            books=books,
        )
    named = {"kind": options.judge, "model": options.judge_model, "base_url": options.base_url}
    if options.judge is not None and options.judge.startswith(LOCAL):
        named |= {"kind": LOCAL.rstrip(":"), "model": options.judge.removeprefix(LOCAL)}
    section = config.judge.model_copy(update={name: value for name, value in named.items() if value is not None})
    if options.first_judge:
        section = section.model_copy(update={"first": None})
    kind = judge_kind(section)
    if kind == "heuristic":
        return judge_from_config(section, environ)
    settings = judge_settings(section, kind, environ, price=price)
    limits = settings.limits if limits == NO_LIMITS else limits
    samples = options.samples if options.samples > 1 else settings.samples
    settings = replace(settings, limits=limits, samples=samples)
    chosen = judge_from_config(section, environ, books, settings)
    return with_first_stage(chosen, options.first_judge, settings, books) if options.first_judge else chosen


def _refuse_options_of_models(options: Options) -> None:
    """ConfigError for an option that would be ignored: who gives it thinks that a model judges."""
    given = {
        "--judge-model": options.judge_model,
        "--base-url": options.base_url,
        "--first-judge": options.first_judge,
        "--samples": options.samples if options.samples > 1 else None,
        "--price": options.price,
    }
    for name, value in given.items():
        if value is not None:
            raise ConfigError(f"{name} is of no use to the built-in rules, which would judge: name a model with --judge-model")


def _units(options: Options, prepared: Prepared, conversion: Conversion) -> Iterator[tuple[Conversation, Reference]]:
    """Each conversation with its reference; the topics of command line or configuration where nothing nearer says any."""
    for conversation in conversion.conversations:
        reference, _ = prepared.dataset.of(conversation, conversion.beside(conversation), task_key=options.task_key)
        yield conversation, prepared.topics.added_to(reference, conversation)


def _named_runs(options: Options, config: Config | None) -> list[MetricRun]:
    """The metrics that are named; without any name those of the configuration."""
    runs = [run_from_text(text, compat=options.compat) for text in options.metrics]
    runs += [run for text in options.checks for run in checks_from_text(text)]
    runs += _adk_runs(options.eval_config) if options.eval_config else []
    if options.compat and runs and not any(run.compat for run in runs):
        raise ConfigError(
            f"--compat {options.compat}: none of the metrics that are named knows it; `otel-eval metrics show NAME` says which do"
        )
    if runs or config is None:
        return runs
    return [run_of(m.name, m.parameters, compat=m.compat or options.compat, if_known=m.compat is None) for m in config.metrics]


def _adk_runs(path: Path) -> list[MetricRun]:
    text = text_of_file(path, "--eval-config")
    try:
        runs = [MetricRun(metric=metric) for metric in metrics_from_eval_config(text)]
    except ValueError as error:
        raise ConfigError(f"--eval-config {str(path)!r}: {error}") from error
    if not runs:
        raise ConfigError(f"--eval-config {str(path)!r}: no `criteria` in it, so there is no metric to run")
    return runs


def _limits(options: Options) -> Limits:
    if options.max_tokens is None and options.max_usd is None:
        return NO_LIMITS
    return Limits(run_tokens=options.max_tokens, run_usd=options.max_usd)


def _price(text: str | None) -> Price | None:
    """`0.15/0.60`: USD for a million tokens in and out."""
    if text is None:
        return None
    parts = text.split("/")
    try:
        numbers = [float(json.loads(part)) for part in parts]
    except (ValueError, TypeError):
        numbers = []
    if len(numbers) not in (2, 3) or not all(math.isfinite(n) and n >= 0 for n in numbers):
        raise ConfigError(f"--price {text!r}: expected USD for a million tokens, IN/OUT or IN/OUT/CACHED, such as 0.15/0.60")
    return Price(input_usd=numbers[0], output_usd=numbers[1], cached_input_usd=numbers[2] if len(numbers) > 2 else None)
