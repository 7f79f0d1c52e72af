"""Which switch records content: by the dialects of a span's instrumentation, and by its scope's name where these say too little.

Many instrumentations speak the conventions alone and each has a switch of its own; a scope's name is never used to read a span, but here it
tells whom to ask. **Source**: the projects' documentation and code, as of 2026.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_eval.dialects import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """What to set so that content is recorded, and where it then stands."""

    instrumentation: str
    """A dialect's name, else the name of the scope."""
    text: str
    attributes: tuple[str, ...] = ()


_CONVENTIONS = "otel_genai"
DIALECT_OF_SCOPE: Mapping[str, str] = {
    "ai": "vercel_ai",
    "gcp.vertex.agent": "adk",
    "langfuse-sdk": "langfuse",
    "pydantic-ai": "pydantic_ai",
    "opentelemetry.instrumentation.genai": _CONVENTIONS,
    "opentelemetry.instrumentation.google_genai": _CONVENTIONS,
    "opentelemetry.instrumentation.openai_agents_v2": _CONVENTIONS,
    "opentelemetry.instrumentation.openai_v2": _CONVENTIONS,
    "opentelemetry.util.genai": _CONVENTIONS,
    **dict.fromkeys(
        (
            f"opentelemetry.instrumentation.{package}"
            for package in (
                "agno",
                "bedrock",
                "cohere",
                "crewai",
                "google_generativeai",
                "groq",
                "haystack",
                "litellm",
                "llamaindex",
                "mcp",
                "mistralai",
                "ollama",
                "openai.v0",
                "openai.v1",
                "together",
                "watsonx",
            )
        ),
        "openllmetry",
    ),
}
"""Scopes whose spans may speak the conventions alone, though their package has a dialect of its own."""

_EITHER = (
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT with OpenTelemetry's package, "
    "TRACELOOP_TRACE_CONTENT=true with OpenLLMetry's"
)
TEXT_OF_SCOPE: Mapping[str, str] = {
    "opentelemetry.instrumentation.anthropic": _EITHER,
    "opentelemetry.instrumentation.langchain": _EITHER,
    "opentelemetry.instrumentation.vertexai": _EITHER,
    "agent_framework": "ENABLE_SENSITIVE_DATA=true, or configure_otel_providers(enable_sensitive_data=True)",
    "semantic_kernel": "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
    "Experimental.Microsoft.Agents.AI": "UseOpenTelemetry(configure: c => c.EnableSensitiveData = true)",
    "Experimental.Microsoft.Extensions.AI": (
        "UseOpenTelemetry(configure: c => c.EnableSensitiveData = true), or OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
    ),
    "openlit": "openlit.init(capture_message_content=True) (the default)",
    "io.quarkus.opentelemetry": "quarkus.langchain4j.tracing.include-prompt=true and quarkus.langchain4j.tracing.include-completion=true",
    "gen_ai": "AI SDK 7: telemetry: { recordInputs: true, recordOutputs: true } (the default)",
}
"""Scopes of packages that keep to the conventions and have a switch of their own, or share their name with another's."""


def switch_of(scope: str, dialects: Iterable[str], known: Sequence[Dialect]) -> Switch | None:
    """The switch for spans of a scope that is spoken in these dialects; None where nobody knows one. `known` is most specific first.

    The scope's own switch, then that of the dialect it is known to speak, then of the most specific one that was met; of the conventions,
    which many speak beside their own, last.
    """
    text = _by_prefix(TEXT_OF_SCOPE, scope)
    if text is not None:
        return Switch(instrumentation=scope, text=text)
    spoken, own = set(dialects), _by_prefix(DIALECT_OF_SCOPE, scope)
    cards = [d.info for d in known if d.info.switch and (d.info.name in spoken or d.info.name == own)]
    cards.sort(key=lambda card: (card.name != own, card.name == _CONVENTIONS))
    return Switch(instrumentation=cards[0].name, text=cards[0].switch, attributes=cards[0].content) if cards else None


def _by_prefix(table: Mapping[str, str], scope: str) -> str | None:
    """The entry of a name or of what stands before one of its dots, the longest first."""
    while scope:
        if scope in table:
            return table[scope]
        scope = scope.rpartition(".")[0]
    return None
