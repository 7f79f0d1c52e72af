"""A Strands agent that is asked for two things and does one."""

import os

os.environ.setdefault("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.telemetry import StrandsTelemetry

telemetry = StrandsTelemetry()
telemetry.setup_otlp_exporter()  # OTEL_EXPORTER_OTLP_ENDPOINT says where to


@tool
def book_room(city: str, nights: int) -> dict:
    """Book a room."""
    return {"status": "success", "content": [{"text": f"room in {city} for {nights} nights booked"}]}


@tool
def order_taxi(time: str) -> dict:
    """Order a taxi."""
    return {"status": "success", "content": [{"text": f"taxi at {time} ordered"}]}


client = {"base_url": os.environ.get("OPENAI_BASE_URL"), "api_key": os.environ["OPENAI_API_KEY"]}
agent = Agent(
    name="travel desk",
    model=OpenAIModel(client_args=client, model_id=os.environ["MODEL"]),
    tools=[book_room, order_taxi],
    system_prompt="You are a travel desk.",
    callback_handler=None,
    trace_attributes={"session.id": "room-and-taxi"},  # the conversation's id
)
question = "I need a room and a taxi: two nights in Lisbon, and the taxi on the last morning at 7:00."
print(f"user   {question}\nagent  {str(agent(question)).strip()}")
telemetry.tracer_provider.force_flush()
