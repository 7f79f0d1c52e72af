"""DSPy. **Source**: stanfordnlp/dspy 3.4.1 and 2.6.27 under openinference-instrumentation-dspy 0.1.48 and mlflow 3.17.2, as captured."""

from typing import Any

import pytest

from otel_eval.model import Span, StepKind
from tests.fakes.spans import line, only, span, step_of, talk, to_json

SYSTEM = "Your input fields are:\n1. `question` (str)"
ASKS = "\n\nRespond with the corresponding output fields, starting with the field `[[ ## next_thought ## ]]`, then …"
DID = (
    "[[ ## trajectory ## ]]\n[[ ## thought_0 ## ]]\nI look.\n\n[[ ## tool_name_0 ## ]]\nweather\n\n"
    '[[ ## tool_args_0 ## ]]\n{"city": "Lisbon"}\n\n[[ ## observation_0 ## ]]\nsunny'
)


def asks(question: str, did: str = "") -> str:
    """A request's user message."""
    return f"[[ ## question ## ]]\n{question}\n\n{did or '[[ ## trajectory ## ]]'}{ASKS}"


def fields(**told: str) -> str:
    """An answer under ChatAdapter."""
    return "".join(f"[[ ## {k} ## ]]\n{v}\n\n" for k, v in told.items()) + "[[ ## completed ## ]]"


CALL = {"next_thought": "I look.", "next_tool_name": "weather", "next_tool_args": '{"city": "Lisbon"}'}
FINISH = {"next_thought": "I know.", "next_tool_name": "finish", "next_tool_args": "{}"}
ANSWER = {"reasoning": "It is known.", "answer": "Sun."}
NOTHING = dict.fromkeys(CALL, "None")


def openinference(texts: list[str], answer: str) -> dict[str, Any]:
    """A model call as OpenInference's instrumentation writes it; the texts are of the system and user and assistant in turn."""
    told = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant"}
    told["llm.output_messages.0.message.content"] = answer
    for n, text in enumerate((SYSTEM, *texts)):
        told[f"llm.input_messages.{n}.message.role"] = "system" if n == 0 else "user" if n % 2 else "assistant"
        told[f"llm.input_messages.{n}.message.content"] = text
    return told


def mlflow(texts: list[str], answer: str) -> dict[str, Any]:
    """The same as MLflow writes it: the answer is a plain text in a list."""
    roles = ["system", *("user" if n % 2 == 0 else "assistant" for n in range(len(texts)))]
    messages = [{"role": r, "content": t} for r, t in zip(roles, (SYSTEM, *texts), strict=True)]
    inputs, outputs = to_json({"messages": messages}), to_json([answer])
    return {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}


def genai(texts: list[str], answer: str) -> dict[str, Any]:
    """The same by an instrumentation of the provider's SDK."""
    roles = ["system", *("user" if n % 2 == 0 else "assistant" for n in range(len(texts)))]
    messages = [{"role": r, "parts": [{"type": "text", "content": t}]} for r, t in zip(roles, (SYSTEM, *texts), strict=True)]
    output = [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": to_json(messages), "gen_ai.output.messages": to_json(output)}


def as_json(**told: str) -> str:
    """An answer under JSONAdapter."""
    values = {k: None if v == "None" else {"city": "Lisbon"} if v.startswith('{"') else {} if v == "{}" else v for k, v in told.items()}
    return to_json(values)


WRITERS = pytest.mark.parametrize("written", [openinference, mlflow, genai])
ADAPTERS = pytest.mark.parametrize("adapter", [fields, as_json])


@WRITERS
@ADAPTERS
def test_a_run(written: Any, adapter: Any) -> None:
    """Question, call, what was done so far, and the answer of the call that extracts it; `finish` is no call."""
    found = only(
        span(1, {}, name="ReAct.forward", end=9),
        span(2, written([asks("Weather?")], adapter(**CALL)), name="LM.__call__", parent=1),
        span(3, written([asks("Weather?", DID)], adapter(**FINISH)), name="LM.__call__", parent=1),
        span(4, written([asks("Weather?", DID)], adapter(**ANSWER)), name="LM.__call__", parent=1),
    )
    assert talk(found) == ["user: Weather?", "assistant: I look. -> weather(city='Lisbon')", "tool: sunny", "assistant: Sun."]


@WRITERS
@ADAPTERS
def test_history_without_values(written: Any, adapter: Any) -> None:
    """ReAct's history knows questions and answers only: an earlier answer whose fields are all None is left out."""
    step = step_of(span(1, written([asks("Hi"), adapter(**NOTHING), asks("Weather?")], adapter(**CALL)), name="LM.__call__"))
    told = [line(m) for m in step.content.input or () if m.role != "system"]
    assert told == ["user: Hi", "user: Weather?"]


TOOLS = [
    span(1, {"openinference.span.kind": "TOOL", "input.value": '{"kwargs": {}}', "output.value": '"Completed."'}, name="finish.__call__"),
    span(1, {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": "{}", "mlflow.spanOutputs": '"Completed."'}, name="Tool.finish"),
]


@pytest.mark.parametrize("item", TOOLS, ids=lambda s: s.name)
def test_finish_is_no_tool(item: Span) -> None:
    """Its span tells nothing of the conversation."""
    assert step_of(item).kind is StepKind.WRAPPER


def test_tools_of_mlflow() -> None:
    """The tool's name stands behind a heading."""
    step = step_of(span(1, {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"city": "Lisbon"}'}, name="Tool.weather"))
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")


def test_modules_are_wrappers() -> None:
    """MLflow calls a Predict module LLM; the model call is the span inside it. An agent module stays one."""
    told = {"mlflow.spanType": '"LLM"', "mlflow.spanInputs": '{"question": "Hi"}', "mlflow.spanOutputs": to_json(ANSWER)}
    assert step_of(span(1, told, name="Predict.forward")).kind is StepKind.WRAPPER
    assert step_of(span(1, {**told, "mlflow.spanType": '"AGENT"'}, name="ReAct.forward")).kind is StepKind.AGENT


def test_failed_tools() -> None:
    """The observation of a failed tool is a traceback; told is its message."""
    trace = 'Execution error in weather: \nTraceback (most recent call last):\n  File "app.py", line 1, in f\napp.ToolFailure: no data'
    step = step_of(span(1, openinference([asks("Weather?", DID.replace("sunny", trace))], fields(**FINISH)), name="LM.__call__"))
    assert [line(m) for m in step.content.input or ()][-1] == "tool !: no data"


def test_the_question_among_several_fields() -> None:
    """A program with a context and a question: the question is what was asked."""
    text = f"[[ ## context ## ]]\nLisbon is warm.\n\n[[ ## question ## ]]\nWeather?{ASKS}"
    assert talk(only(span(1, openinference([text], fields(answer="Sun.")), name="LM.__call__"))) == ["user: Weather?", "assistant: Sun."]
