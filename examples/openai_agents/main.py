"""Two agents of the OpenAI Agents SDK: a desk that hands over to refunds, over the Responses API."""

import os

from agents import Agent, Runner, function_tool, set_trace_processors
from openinference.instrumentation import using_session
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

set_trace_processors([])  # nothing to the dashboard of OpenAI
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # OTEL_EXPORTER_OTLP_ENDPOINT says where to
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)  # records content by default


@function_tool
def refund_order(order: int) -> dict:
    """Refund an order."""
    return {"refunded": True, "order": order}


refunds = Agent(name="refunds", model=os.environ["MODEL"], instructions="You refund orders.", tools=[refund_order])
desk = Agent(name="desk", model=os.environ["MODEL"], instructions="You hand over to who can help.", handoffs=[refunds])

question = "Please refund order 7."
with using_session("refund-7"):  # the conversation's id
    result = Runner.run_sync(desk, question)
print(f"user   {question}\nagent  {result.final_output}  (by {result.last_agent.name})")
