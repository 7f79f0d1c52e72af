"""What a user asks `otel-eval score` for, and the plan that comes of it: everything is checked before the first question."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from otel_eval.errors import ConfigError
from otel_eval.judges.settings import NO_LIMITS, JudgeSettings, Limits, Price
from otel_eval.metrics.adk.config import metrics_from_eval_config
from otel_eval.model import Conversation, Reference
from otel_eval.scoring import MetricRun
from otel_eval.service.config import Config
from otel_eval.service.config.load import load_config
from otel_eval.service.convert import Conversion
from otel_eval.service.judge_choice import JudgeChoice, choice_from_settings, judge_from_options, with_first_stage
from otel_eval.service.metric_choice import default_names, labels_of, run_from_text, run_of
from otel_eval.service.references import NO_REFERENCES, References, references_from_file
from otel_eval.service.score.checks import checks_beside, checks_from_text
from otel_eval.service.score.resume import Earlier
from otel_eval.service.serve.building import judge_kind, judge_settings

_LOCAL_DEADLINE_S = 1800.0
"""For one conversation with a model on this machine; reading a long record takes it minutes."""
_DEADLINE_S = 120.0


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
    deadline_s: float = _DEADLINE_S

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics, in order."""
        own = (run.metric.card.name for runs in self.beside.values() for run in runs)
        return tuple(dict.fromkeys([*(run.metric.card.name for run in self.runs), *own]))

    def runs_of(self, conversation: Conversation) -> list[MetricRun]:
        return [*self.runs, *self.beside.get(id(conversation), ())]

    def remaining(self, earlier: Earlier) -> list[tuple[Conversation, Reference]]:
        """The units for which a result is missing."""
        return [(c, r) for c, r in self.units if earlier.missing(c, self.runs_of(c))]


def plan_from_options(options: Options, conversion: Conversion, environ: Mapping[str, str]) -> Plan:
    """The plan; ConfigError for the first thing that is wrong with the options."""
    config = load_config(options.config, environ).config if options.config else None
    units = list(_units(options, conversion, config))
    beside = {id(c): found for c in conversion.conversations if (found := checks_beside(conversion.beside(c)))}
    runs = _runs(options, config, units, has_checks=bool(beside))
    labels_of(runs)
    chosen = _judge(options, config, environ)
    deadline_s = _LOCAL_DEADLINE_S if chosen.kind == "local" else config.scoring.deadline if config else _DEADLINE_S
    return Plan(units=units, runs=runs, beside=beside, judge=chosen, deadline_s=deadline_s)


def _judge(options: Options, config: Config | None, environ: Mapping[str, str]) -> JudgeChoice:
    """The judge of the command line; with a configuration its section, where options change what they name."""
    price, limits = _price(options.price), _limits(options)
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
        )
    named = {"kind": options.judge, "model": options.judge_model, "base_url": options.base_url}
    section = config.judge.model_copy(update={name: value for name, value in named.items() if value is not None})
    kind = judge_kind(section)
    settings = JudgeSettings() if kind == "heuristic" else judge_settings(section, kind, environ)
    limits = settings.limits if limits == NO_LIMITS else limits
    samples = options.samples if options.samples > 1 else settings.samples
    settings = replace(settings, price=price or settings.price, limits=limits, samples=samples)
    chosen = choice_from_settings(kind, settings)
    return with_first_stage(chosen, options.first_judge, settings) if options.first_judge else chosen


def _units(options: Options, conversion: Conversion, config: Config | None) -> Iterator[tuple[Conversation, Reference]]:
    """Each conversation with its reference; the topics of command line or configuration where nothing nearer says any."""
    named = options.references or (Path(config.scoring.references) if config and config.scoring.references else None)
    dataset: References = references_from_file(named) if named else NO_REFERENCES
    topics = options.topics or (config.scoring.topics if config else ())
    for conversation in conversion.conversations:
        beside = conversion.beside(conversation)
        reference, _ = dataset.of(conversation, beside, task_key=options.task_key)
        yield conversation, replace(reference, topics=topics) if topics and not reference.topics else reference


def _runs(options: Options, config: Config | None, units: Sequence[tuple[Conversation, Reference]], *, has_checks: bool) -> list[MetricRun]:
    """The metrics that are named; without any name those of the configuration, else all that apply."""
    runs = [run_from_text(text, compat=options.compat) for text in options.metrics]
    runs += [run for text in options.checks for run in checks_from_text(text)]
    runs += _adk_runs(options.eval_config) if options.eval_config else []
    if runs:
        return runs
    if config is not None:
        return [run_of(m.name, m.parameters, compat=m.compat or options.compat, if_known=m.compat is None) for m in config.metrics]
    return [] if has_checks else [run_from_text(name, compat=options.compat) for name in default_names(r for _, r in units)]


def _adk_runs(path: Path) -> list[MetricRun]:
    try:
        return [MetricRun(metric=metric) for metric in metrics_from_eval_config(path.read_text(encoding="utf-8"))]
    except (ValueError, OSError) as error:
        raise ConfigError(f"--eval-config {str(path)!r}: {error}") from error


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
    if len(numbers) not in (2, 3) or any(n < 0 for n in numbers):
        raise ConfigError(f"--price {text!r}: expected USD for a million tokens, IN/OUT or IN/OUT/CACHED, such as 0.15/0.60")
    return Price(input_usd=numbers[0], output_usd=numbers[1], cached_input_usd=numbers[2] if len(numbers) > 2 else None)
