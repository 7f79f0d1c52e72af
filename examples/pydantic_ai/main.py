"""A Pydantic AI agent whose tool asks it to try again; scored in its own process."""

import os

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel

import otel_eval


def show(report) -> None:
    for result in report.results:
        print(f"score  {report.conversation.id} {result.metric} {result.outcome.value:.2f}  {result.outcome.explanation}")


metrics = ["agent_goal_accuracy", "repeated_calls", "tool_error_rate"]
otel_eval.instrument(
    online=True, metrics=metrics, on_report=show
)  # providers, content, scorer; exports where OTEL_EXPORTER_OTLP_ENDPOINT says

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
