"""A Pydantic AI agent whose tool asks it to try again."""

import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent, InstrumentationSettings, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # OTEL_EXPORTER_OTLP_ENDPOINT says where to
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))  # records content by default

agent = Agent(OpenAIChatModel(os.environ["MODEL"]), name="restaurants", system_prompt="You book tables.")


@agent.tool_plain
def book_table(restaurant: str, people: int, time: str) -> dict:
    """Book a table."""
    if time == "20:00":
        raise ModelRetry("no table at 20:00; 20:30 is free")
    return {"booked": True, "restaurant": restaurant, "people": people, "time": time}


question = "Please book a table for two at Ramiro at 20:00, or a little later."
result = agent.run_sync(question, conversation_id="table")
print(f"user   {question}\nagent  {result.output}")
