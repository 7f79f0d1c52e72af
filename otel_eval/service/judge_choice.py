"""The judge by what a user says and what the environment holds: a model behind an endpoint, else the built-in rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from otel_eval.errors import ConfigError
from otel_eval.judges import BUILTIN, builtin_judge
from otel_eval.judges.base import Judge
from otel_eval.judges.chain import Books, judge_chain
from otel_eval.judges.settings import JudgeSettings, Limits
from otel_eval.registry import JUDGES, load_plugin

OPENAI_URL = "https://api.openai.com/v1"
NOTE = "otel-eval: no judge model is named (--judge-model), so built-in rules judge; their scores are marked `heuristic`"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """A judge ready to be asked. `model` is the innermost one, to be closed."""

    judge: Judge
    kind: str
    model: Judge

    async def close(self) -> None:
        """Let go of connections, where the judge has any."""
        close = getattr(self.model, "close", None)
        if close is not None:
            await close()


def judge_from_options(
    *,
    judge: str | None,
    model: str | None,
    base_url: str | None,
    environ: Mapping[str, str],
    limits: Limits | None = None,
    books: Books | None = None,
) -> JudgeChoice:
    """The judge asked for; without one, `openai` if a model is named, else `heuristic`. ConfigError says what is missing."""
    kind = judge or ("openai" if model else "heuristic")
    if kind == "heuristic":
        rules = builtin_judge(kind, JudgeSettings())
        return JudgeChoice(judge=rules, kind=kind, model=rules)
    settings = settings_from_options(kind, model=model, base_url=base_url, environ=environ, limits=limits)
    inner = builtin_judge(kind, settings) if kind in BUILTIN else load_plugin(JUDGES, kind, builtin=BUILTIN)(settings)
    return JudgeChoice(judge=judge_chain(inner, settings, books), kind=kind, model=inner)


def settings_from_options(
    kind: str, *, model: str | None, base_url: str | None, environ: Mapping[str, str], limits: Limits | None = None
) -> JudgeSettings:
    """Model, endpoint and key: from the options, else from OPENAI_BASE_URL and OPENAI_API_KEY."""
    url = base_url or environ.get("OPENAI_BASE_URL") or OPENAI_URL
    key = environ.get("OPENAI_API_KEY", "")
    if kind == "openai" and not model:
        raise ConfigError("--judge openai needs the name of a model: give --judge-model")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ConfigError("the judge's endpoint is no address: expected http://HOST/v1 or https://HOST/v1 in --base-url or OPENAI_BASE_URL")
    if kind == "openai" and not key and url == OPENAI_URL:
        raise ConfigError("no key for the judge: set OPENAI_API_KEY, or name another endpoint with --base-url")
    return JudgeSettings(model=model or "", base_url=url, api_key=key, limits=limits or JudgeSettings().limits)
