"""The judge by what a user says and what the environment holds: a model behind an endpoint, else the built-in rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from otel_eval.errors import ConfigError
from otel_eval.judges import BUILTIN, builtin_judge
from otel_eval.judges.base import Judge
from otel_eval.judges.cascade import ACCEPT, AUDIT
from otel_eval.judges.chain import Books, judge_cascade, judge_chain, judge_panel
from otel_eval.judges.settings import NO_LIMITS, JudgeSettings, Limits, Price
from otel_eval.registry import JUDGES, load_plugin

OPENAI_URL = "https://api.openai.com/v1"
LOCAL = "local:"
HEURISTIC = "heuristic"
ENDPOINTS = frozenset({"openai", "decisions"})
"""Kinds that ask an endpoint, OpenAI's if no other is named."""
NOTE = "otel-eval: no judge model is named (--judge-model), so built-in rules judge; their scores are marked `heuristic`"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """A judge ready to be asked. `model` is the innermost one, `others` those of a panel or a first stage: all are to be closed."""

    judge: Judge
    kind: str
    model: Judge
    others: tuple[Judge, ...] = ()

    async def close(self) -> None:
        """Let go of connections, where the judges have any."""
        for model in (self.model, *self.others):
            close = getattr(model, "close", None)
            if close is not None:
                await close()


def cascade_of(first: JudgeChoice, second: JudgeChoice, *, accept: float = ACCEPT, audit: float = AUDIT) -> JudgeChoice:
    """What the first judge is not sure of goes to the second."""
    judge = judge_cascade(first.judge, second.judge, accept=accept, audit=audit)
    return replace(second, judge=judge, others=(*second.others, first.model, *first.others))


def panel_of(members: Sequence[JudgeChoice]) -> JudgeChoice:
    """The majority of several judges; by name it is the first of them."""
    first, *others = members
    models = [model for member in others for model in (member.model, *member.others)]
    return replace(first, judge=judge_panel([member.judge for member in members]), others=(*first.others, *models))


def with_first_stage(second: JudgeChoice, text: str, settings: JudgeSettings, books: Books) -> JudgeChoice:
    """A cascade: `KIND:MODEL` is asked first, at the same address, and what it is not sure of goes to the second."""
    kind, colon, model = text.partition(":")
    if not colon or not model or kind == "heuristic":
        raise ConfigError(f"--first-judge {text!r}: expected KIND:MODEL, such as decisions:gpt-6-luna or openai:a-small-model")
    if second.kind == "heuristic":
        raise ConfigError("--first-judge needs a second judge: name it with --judge-model")
    if settings.limits.in_usd:
        raise ConfigError(
            "a limit in USD needs the price of the first judge, too: name that judge and its price in a configuration (judge.first)"
        )
    return cascade_of(choice_from_settings(kind, replace(settings, model=model, samples=1, price=None), books), second)


def judge_from_options(
    *,
    judge: str | None,
    model: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    limits: Limits = NO_LIMITS,
    price: Price | None = None,
    samples: int = 1,
    first: str | None = None,
    books: Books | None = None,
) -> JudgeChoice:
    """The judge asked for; without one, `openai` if a model is named, else `heuristic`. ConfigError says what is missing."""
    kind = judge or ("openai" if model else "heuristic")
    if kind.startswith(LOCAL):
        kind, model = "local", kind.removeprefix(LOCAL)
    settings = JudgeSettings()
    if kind != "heuristic":
        settings = settings_from_options(kind, model=model, base_url=base_url, environ=environ)
        settings = replace(settings, limits=limits, price=price, samples=samples)
    books = books or Books()
    chosen = choice_from_settings(kind, settings, books)
    return with_first_stage(chosen, first, settings, books) if first else chosen


def choice_from_settings(kind: str, settings: JudgeSettings, books: Books | None = None) -> JudgeChoice:
    """The judge of a kind, with its chain where it is a model. ConfigError for USD limits without a price."""
    if kind == "heuristic":
        rules = builtin_judge(kind, settings)
        return JudgeChoice(judge=rules, kind=kind, model=rules)
    if settings.price is None and settings.limits.in_usd:
        raise ConfigError("a limit in USD needs the price of the model: give --price IN/OUT, in USD for a million tokens")
    settings = replace(settings, kind=kind)
    if kind == "local":
        settings = replace(settings, start_concurrency=1, most_concurrency=1)  # one at a time: the machine has no second model
    inner = _model(kind, settings)
    return JudgeChoice(judge=judge_chain(inner, settings, books), kind=kind, model=inner)


def _model(kind: str, settings: JudgeSettings) -> Judge:
    if kind not in BUILTIN:
        made: Judge = load_plugin(JUDGES, kind, builtin=BUILTIN)(settings)
        return made
    try:
        return builtin_judge(kind, settings)
    except ModuleNotFoundError as error:
        raise ConfigError(f"the judge {kind!r} needs the package {error.name!r}: pip install 'otel-eval[{kind}]'") from error


def settings_from_options(kind: str, *, model: str | None, base_url: str | None, environ: Mapping[str, str]) -> JudgeSettings:
    """Model, endpoint and key: from the options, else from OPENAI_BASE_URL and OPENAI_API_KEY."""
    if kind == "local":
        return JudgeSettings(model=model or "")
    url = base_url or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    key = environ.get("OPENAI_API_KEY", "")
    if kind in ENDPOINTS and not model:
        raise ConfigError(f"--judge {kind} needs the name of a model: give --judge-model")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ConfigError("the judge's endpoint is no address: expected http://HOST/v1 or https://HOST/v1 in --base-url or OPENAI_BASE_URL")
    if kind in ENDPOINTS and not key and url == OPENAI_URL:
        raise ConfigError("no key for the judge: set OPENAI_API_KEY, or name another endpoint with --base-url")
    return JudgeSettings(model=model or "", base_url=url, api_key=key)
