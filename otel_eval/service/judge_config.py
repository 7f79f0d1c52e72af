"""The judge of a configuration: its settings, the judges beside and before it, and the chain around each."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from otel_eval.errors import ConfigError
from otel_eval.judges.chain import Books
from otel_eval.judges.settings import JudgeSettings, Limits, Price
from otel_eval.otlp.endpoint import headers_from_text
from otel_eval.service.config import JudgeConfig
from otel_eval.service.config.sections import OtherJudgeConfig, PriceConfig
from otel_eval.service.config.values import Secret
from otel_eval.service.judge_choice import ENDPOINTS, OPENAI_URL, JudgeChoice, cascade_of, choice_from_settings, panel_of


def judge_from_config(
    config: JudgeConfig, environ: Mapping[str, str], books: Books | None = None, settings: JudgeSettings | None = None
) -> JudgeChoice:
    """The judge with its chain, its panel and its first stage; all write into the same books.

    `settings` are those of the judge itself where somebody has changed them (the command line). ConfigError for what cannot work.
    """
    kind = judge_kind(config)
    if kind == "heuristic":
        if config.panel or config.first:
            raise ConfigError("judge.panel and judge.first need a model as the judge itself: set judge.model")
        return choice_from_settings(kind, JudgeSettings())
    settings, books = settings or judge_settings(config, kind, environ), books or Books()
    chosen = choice_from_settings(kind, settings, books)
    if config.panel:
        if settings.samples > 1:
            raise ConfigError("judge.samples and judge.panel both ask for more opinions: set one of them")
        others = [_other(other, f"judge.panel.{place}", settings, books) for place, other in enumerate(config.panel)]
        chosen = panel_of([chosen, *others])
    if config.first is not None:
        first = _other(config.first, "judge.first", settings, books)
        chosen = cascade_of(first, chosen, accept=config.first.accept, audit=config.first.audit)
    return chosen


def _other(config: OtherJudgeConfig, key: str, settings: JudgeSettings, books: Books) -> JudgeChoice:
    """Another judge: as the judge itself but for what is named. A key never goes to an address that it was not given for."""
    if config.kind == "heuristic":
        raise ConfigError(f"{key}.kind is 'heuristic': rules are not mixed with models; name a model")
    if settings.limits.in_usd and config.price is None:
        raise ConfigError(f"judge.budget has a limit in dollars and {key}.price is not set: give the price of a million tokens")
    url = config.base_url or settings.base_url or OPENAI_URL
    refuse_no_address(url, f"{key}.base_url")
    own = replace(settings, model=config.model, base_url=url, samples=1, wire=config.wire, price=_price(config.price))
    if config.api_key_file is not None:
        own = replace(own, api_key=secret_text(None, config.api_key_file, f"{key}.api_key_file"))
    elif url != settings.base_url:
        own = replace(own, api_key="", headers={})
    return choice_from_settings(config.kind, own, books)


def refuse_no_address(url: str, key: str) -> None:
    """ConfigError for what is no address of an endpoint."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ConfigError(f"{key} is no address: expected http://HOST/v1 or https://HOST/v1")


def _price(config: PriceConfig | None) -> Price | None:
    if config is None:
        return None
    return Price(input_usd=config.input_usd, output_usd=config.output_usd, cached_input_usd=config.cached_input_usd)


def judge_kind(config: JudgeConfig) -> str:
    return config.kind or ("openai" if config.model else "heuristic")


def judge_settings(config: JudgeConfig, kind: str, environ: Mapping[str, str], *, price: Price | None = None) -> JudgeSettings:
    """Where the judge is and what it may take; `price` goes before the configuration's. ConfigError says what is missing."""
    price = price or _price(config.price)
    url = config.base_url or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    key = secret_text(config.api_key, config.api_key_file, "judge.api_key_file") or environ.get("OPENAI_API_KEY", "")
    if kind in ENDPOINTS and not config.model:
        raise ConfigError(f"judge.kind is {kind!r} and no model is named: set judge.model")
    refuse_no_address(url, "judge.base_url")
    if kind in ENDPOINTS and not key and url == OPENAI_URL:
        raise ConfigError("no key for the judge: set OPENAI_API_KEY or judge.api_key_file, or name another endpoint in judge.base_url")
    limits = Limits(**config.budget.model_dump())
    if price is None and limits.in_usd:
        raise ConfigError("judge.budget has a limit in dollars and judge.price is not set: give the price of a million tokens")
    return JudgeSettings(
        model=config.model or "",
        base_url=url,
        api_key=key,
        headers=headers_from_text(config.headers.get_secret_value()) if config.headers else {},
        format=config.format,
        temperature=config.temperature,
        seed=config.seed,
        reasoning_effort=config.reasoning_effort,
        wording=config.wording,
        call_timeout_s=config.call_timeout,
        samples=config.samples,
        start_concurrency=min(4, config.concurrency),
        most_concurrency=config.concurrency,
        price=price,
        limits=limits,
    )


def secret_text(value: Secret | None, file: str | None, key: str) -> str:
    """A secret from the environment, else from the file named beside it; empty without either."""
    if value is not None:
        return value.get_secret_value()
    if file is None:
        return ""
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key} {file!r} cannot be read: {type(error).__name__}") from None
