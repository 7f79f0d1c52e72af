"""An agent of Google's ADK, over Gemini's API, whose messages come in log events."""

import asyncio
import os

os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY")  # without it nobody's words are recorded

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.telemetry.setup import maybe_set_otel_providers
from google.genai import types

maybe_set_otel_providers()  # OTEL_EXPORTER_OTLP_ENDPOINT says where to


def cancel_booking(booking_id: str) -> dict:
    """Cancel a booking."""
    raise LookupError(f"booking {booking_id} not found")


async def tell_the_model(tool, args, tool_context, error) -> dict:
    return {"error": str(error)}


async def main() -> None:
    agent = LlmAgent(
        name="travel_desk",
        model=os.environ.get("GEMINI_MODEL", "gemini-2.5-flash"),
        instruction="You are a travel desk.",
        tools=[cancel_booking],
        on_tool_error_callback=tell_the_model,
    )
    runner = InMemoryRunner(agent, app_name="travel")
    session = await runner.session_service.create_session(app_name="travel", user_id="u1", session_id="rental-car")
    question = "Please cancel my rental car C-5530."
    message = types.Content(role="user", parts=[types.Part(text=question)])
    print(f"user   {question}")
    async for event in runner.run_async(user_id="u1", session_id=session.id, new_message=message):
        if event.is_final_response():
            print(f"agent  {event.content.parts[0].text}")


asyncio.run(main())
