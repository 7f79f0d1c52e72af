"""Haystack's own tracer: `haystack.agent.step.llm.*`, `haystack.agent.step.tool.*`, `haystack.component.*`, `haystack.agent.*`.

**Source**: deepset-ai/haystack `haystack/tracing`, `components/agents/agent.py`, 2.14 to 3.x.
"""

from otel_eval.dialects.base import DialectCard, Evidence
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind


class Haystack(Envelope):
    """Haystack tells the kind by the span's name and, for components, by their type."""

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        name, a = evidence.span.name, evidence.attributes
        if name == "haystack.component.run":
            component = str(a.get("haystack.component.type", ""))
            if component.endswith(("ChatGenerator", "Generator")):
                return StepKind.INFERENCE
            return StepKind.RETRIEVAL if component.endswith("Retriever") else StepKind.WRAPPER
        return self.kinds.get(name, StepKind.WRAPPER if name.startswith("haystack.") else None)


HAYSTACK = Haystack(
    info=DialectCard(
        name="haystack",
        version=1,
        sentence="Haystack's OpenTelemetry tracer: haystack.agent.step.llm / .tool, haystack.component.*, haystack.agent.*.",
        source="deepset-ai/haystack tracing and components/agents, 2.14–3.x",
        detects=("haystack.",),
        content=(
            "haystack.agent.step.llm.input",
            "haystack.agent.step.llm.output",
            "haystack.component.input",
            "haystack.component.output",
        ),
        lacks="Content is recorded once per process in some releases; tool spans have no call id.",
        switch="HAYSTACK_CONTENT_TRACING_ENABLED=true",
    ),
    names=Names(
        type=(),
        input=("haystack.agent.step.llm.input", "haystack.agent.input", "haystack.component.input"),
        output=("haystack.agent.step.llm.output", "haystack.agent.output", "haystack.component.output"),
        tool_name=("haystack.tool.name",),
        tool_input=("haystack.agent.step.tool.input", "haystack.tool.input"),
        tool_output=("haystack.agent.step.tool.output", "haystack.tool.output"),
        agent_name=("haystack.component.name", "haystack.agent.name"),
        definitions=("haystack.agent.tools",),
    ),
    kinds={
        "haystack.agent.step.llm": StepKind.INFERENCE,
        "haystack.agent.step.tool": StepKind.TOOL,
        "haystack.tool.run": StepKind.TOOL,
        "haystack.agent.run": StepKind.AGENT,
        "haystack.agent.step": StepKind.WRAPPER,
        "haystack.pipeline.run": StepKind.WRAPPER,
        "haystack.async_pipeline.run": StepKind.WRAPPER,
    },
    span_name_is_agent=False,
    error_values={"haystack.tool.error": frozenset({"true"})},
)
