"""An agent that scores itself: one process, no Collector, no instrumentation of others."""

import json
import os

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import otel_eval


def show(report) -> None:
    for result in report.results:
        outcome = result.outcome
        print(f"score  {report.conversation.id} {result.metric} {outcome.value:.2f}  {outcome.explanation}")


provider = TracerProvider()
provider.add_span_processor(otel_eval.OnlineScorer(metrics=["agent_goal_accuracy", "tool_call_accuracy"], on_report=show))
trace.set_tracer_provider(provider)

client = OpenAI()
PARAMETERS = {"type": "object", "properties": {"booking_id": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "cancel_booking", "parameters": PARAMETERS}}]


def cancel_booking(booking_id: str) -> dict:
    raise LookupError(f"booking {booking_id} not found")


def run_tool(call) -> str:
    arguments = json.loads(call.function.arguments)
    with otel_eval.tool_call(call.function.name, arguments, call_id=call.id) as tool:
        try:
            tool.result(result := json.dumps(cancel_booking(**arguments)))
            return result
        except LookupError as error:
            tool.fail(str(error))
            return f"ERROR: {error}"


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    with otel_eval.agent_turn("travel desk", question, conversation_id="hotel") as turn:
        otel_eval.set_reference(tool_calls=[{"name": "cancel_booking", "arguments": {"booking_id": "H-2231"}}])
        while True:
            with otel_eval.model_call(os.environ["MODEL"], messages) as spoken:
                reply = client.chat.completions.create(model=os.environ["MODEL"], messages=messages, tools=TOOLS).choices[0].message
                messages.append(reply.model_dump(exclude_none=True))
                spoken.answer(reply.content, tool_calls=messages[-1].get("tool_calls", ()))
            if not reply.tool_calls:
                turn.answer(reply.content)
                otel_eval.end_conversation()  # it is over: scored without waiting for silence
                return reply.content
            messages += [{"role": "tool", "tool_call_id": call.id, "content": run_tool(call)} for call in reply.tool_calls]


question = "Please cancel my hotel booking H-2231."
print(f"user   {question}\nagent  {answer(question)}")
provider.force_flush()
