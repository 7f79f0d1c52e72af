"""An agent without a framework: the openai package, and a loop that runs the tools that the model asks for."""

import json
import os

os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")  # without it nobody's words are recorded

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # OTEL_EXPORTER_OTLP_ENDPOINT says where to
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("travel-desk")
OpenAIInstrumentor().instrument()

client = OpenAI()


def get_weather(city: str) -> dict:
    return {"city": city, "sky": "sunny", "celsius": 24}


def cancel_booking(booking_id: str) -> dict:
    raise LookupError(f"booking {booking_id} not found")


def tool(name: str, parameter: str) -> dict:
    properties = {parameter: {"type": "string"}}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


TOOLS = [tool("get_weather", "city"), tool("cancel_booking", "booking_id")]
FUNCTIONS = {"get_weather": get_weather, "cancel_booking": cancel_booking}


def run_tool(call) -> str:
    with tracer.start_as_current_span(f"execute_tool {call.function.name}", attributes={"gen_ai.tool.name": call.function.name}) as span:
        span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": call.id})
        try:
            return json.dumps(FUNCTIONS[call.function.name](**json.loads(call.function.arguments)))
        except Exception as error:
            span.set_status(trace.StatusCode.ERROR, str(error))
            return f"ERROR: {error}"


def answer(conversation: str, question: str) -> str:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "travel desk", "gen_ai.conversation.id": conversation}
    with tracer.start_as_current_span("invoke_agent travel desk", attributes=attributes):
        messages = [{"role": "system", "content": "You are a travel desk."}, {"role": "user", "content": question}]
        while True:
            reply = client.chat.completions.create(model=os.environ["MODEL"], messages=messages, tools=TOOLS).choices[0].message
            if not reply.tool_calls:
                return reply.content
            messages.append(reply.model_dump(exclude_none=True))
            messages += [{"role": "tool", "tool_call_id": call.id, "content": run_tool(call)} for call in reply.tool_calls]


for conversation, question in {"weather": "What is the weather in Lisbon?", "hotel": "Please cancel my hotel booking H-2231."}.items():
    print(f"user   {question}\nagent  {answer(conversation, question)}")
