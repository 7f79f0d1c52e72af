"""Content, switched on for what is installed: environment variables that instrumentations read, and instrumentors that have to be called.

A variable that is set is the operator's word and stays as it is. Of several instrumentations of one library one is called: two would record
every call twice. **Source**: the switches of the dialects' cards and of `otel_eval.service.switches`; a test holds each of these to be one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""Packages of OpenTelemetry take it; which words it may have depends on `opentelemetry-util-genai`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """An environment variable that switches content on, for any of these distributions."""

    name: str
    value: str
    of: tuple[str, ...]


_UTIL_GENAI = "opentelemetry-util-genai"
VARIABLES = (
    Variable(name=CAPTURE, value="SPAN_AND_EVENT", of=(_UTIL_GENAI, "google-adk")),
    Variable(
        name=CAPTURE,
        value="true",
        of=(
            "opentelemetry-instrumentation-openai-v2",
            "opentelemetry-instrumentation-google-genai",
            "opentelemetry-instrumentation-vertexai",
        ),
    ),
    Variable(name="OTEL_SEMCONV_STABILITY_OPT_IN", value="gen_ai_latest_experimental", of=(_UTIL_GENAI,)),
    Variable(name="TRACELOOP_TRACE_CONTENT", value="true", of=("traceloop-sdk", "opentelemetry-semantic-conventions-ai")),
    Variable(
        name="AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED",
        value="true",
        of=("azure-ai-inference", "azure-ai-projects", "azure-ai-agents"),
    ),
    Variable(name="SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE", value="true", of=("semantic-kernel",)),
    Variable(name="ENABLE_SENSITIVE_DATA", value="true", of=("agent-framework", "agent-framework-core")),
    Variable(name="HAYSTACK_CONTENT_TRACING_ENABLED", value="true", of=("haystack-ai",)),
)

_GROUP = "opentelemetry_instrumentor"
_FAMILIES = (
    re.compile(r"opentelemetry-instrumentation-genai-(?P<library>.+)"),
    re.compile(r"opentelemetry-instrumentation-(?P<library>.+)-v2"),
    re.compile(r"openinference-instrumentation-(?P<library>.+)"),
    re.compile(r"opentelemetry-instrumentation-(?P<library>.+)"),
)
"""Whose instrumentors these are, the one to be taken first on top. All but the first are of libraries of any kind: see `_LIBRARIES`."""
_LIBRARIES = frozenset(
    {
        "agno",
        "alephalpha",
        "anthropic",
        "autogen",
        "bedrock",
        "beeai",
        "claude-agent-sdk",
        "cohere",
        "crewai",
        "dspy",
        "google-adk",
        "google-genai",
        "google-generativeai",
        "groq",
        "guardrails",
        "haystack",
        "instructor",
        "langchain",
        "litellm",
        "llama-index",
        "llamaindex",
        "mcp",
        "mistralai",
        "ollama",
        "openai",
        "openai-agents",
        "portkey",
        "replicate",
        "sagemaker",
        "smolagents",
        "together",
        "transformers",
        "vertexai",
        "watsonx",
        "writer",
    }
)


def installed() -> Mapping[str, Distribution]:
    """What is installed, by name as PyPI compares it."""
    return {_plain(d.metadata["Name"]): d for d in distributions() if d.metadata["Name"]}


def set_variables(packages: Iterable[str], environ: MutableMapping[str, str], undo: ExitStack) -> Iterator[str]:
    """Set what the installed packages read; a sentence on each variable."""
    names, seen = frozenset(packages), set[str]()
    for variable in VARIABLES:
        there = [name for name in variable.of if name in names]
        if not there or variable.name in seen:
            continue
        seen.add(variable.name)
        if variable.name in environ:
            yield f"{variable.name}={environ[variable.name]} was set and stays ({there[0]} reads it)"
            continue
        environ[variable.name] = variable.value
        undo.callback(environ.pop, variable.name, None)
        yield f"{variable.name}={variable.value} set, for {there[0]}"


def call_instrumentors(packages: Mapping[str, Distribution], providers: Mapping[str, Any], undo: ExitStack) -> Iterator[str]:
    """Call the instrumentor of each library, once; a sentence on each."""
    taken: dict[str, str] = {}
    for library, name, entry in _ranked(packages):
        if library in taken:
            yield f"{name} left out: {taken[library]} instruments {library}"
            continue
        sentence, is_on = _call(name, entry, providers, undo)
        if is_on:
            taken[library] = name
        yield sentence


def _ranked(packages: Mapping[str, Distribution]) -> list[tuple[str, str, EntryPoint]]:
    """Library, distribution and entry point, the family to be taken first on top."""
    return [(library, name, entry) for library, name, entry, _ in sorted(_instrumentors(packages), key=lambda found: (found[3], found[1]))]


def _instrumentors(packages: Mapping[str, Distribution]) -> Iterator[tuple[str, str, EntryPoint, int]]:
    for name, distribution in packages.items():
        for rank, family in enumerate(_FAMILIES):
            match = family.fullmatch(name)
            if match is not None and (rank == 0 or match["library"] in _LIBRARIES):
                yield from ((match["library"], name, e, rank) for e in distribution.entry_points if e.group == _GROUP)
                break


def _call(name: str, entry: EntryPoint, providers: Mapping[str, Any], undo: ExitStack) -> tuple[str, bool]:
    """Whether it is on afterwards, and a sentence."""
    try:
        instrumentor = entry.load()()
        if getattr(instrumentor, "is_instrumented_by_opentelemetry", False):
            return f"{name} was on and stays", True
        instrumentor.instrument(**providers)
        is_on = bool(getattr(instrumentor, "is_instrumented_by_opentelemetry", True))
    except Exception as fault:  # a package's own: it is told, and the others are called
        return f"{name} raised {type(fault).__name__}: it is off", False
    if not is_on:
        return f"{name} is off: what it instruments is not installed, or another version than it knows", False
    undo.callback(_call_back, instrumentor.uninstrument)
    return f"{name} switched on", True


def switch_pydantic_ai(packages: Iterable[str], undo: ExitStack) -> Iterator[str]:
    """Pydantic AI has no instrumentor: its agents are told at once."""
    if not {"pydantic-ai", "pydantic-ai-slim"} & set(packages):
        return
    try:
        agents = import_module("pydantic_ai").Agent
        agents.instrument_all()
    except Exception as fault:  # a package's own: it is told
        yield f"pydantic-ai raised {type(fault).__name__}: it is off"
        return
    undo.callback(_call_back, lambda: agents.instrument_all(False))
    yield "pydantic-ai switched on, for all agents"


def _call_back(off: Callable[[], Any]) -> None:
    try:
        off()
    except Exception:  # a package's own, at the end: nobody is left to tell
        return


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
