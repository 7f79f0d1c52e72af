"""A LangGraph agent whose tool finds nothing."""

import os

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # OTEL_EXPORTER_OTLP_ENDPOINT says where to
LangChainInstrumentor().instrument(tracer_provider=provider)  # records content by default


@tool
def search_flights(origin: str, destination: str) -> list[str]:
    """Search flights between two airports."""
    return []


model = ChatOpenAI(model=os.environ["MODEL"])
agent = create_agent(model, [search_flights], system_prompt="You are a travel desk.", checkpointer=InMemorySaver())

question = "Is there a direct flight from Berlin to Lisbon on Friday?"
thread = {"configurable": {"thread_id": "flights"}}  # becomes the conversation's id
state = agent.invoke({"messages": [{"role": "user", "content": question}]}, thread)
print(f"user   {question}\nagent  {state['messages'][-1].content}")
