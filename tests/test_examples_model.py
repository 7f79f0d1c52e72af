"""The model that plays stories speaks as the real ones do: the clients of their makers understand it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

SERVER = Path(__file__).parent.parent / "examples" / "model" / "server.py"
STORIES = json.loads((SERVER.parent / "stories.json").read_text())
QUESTION = "Please cancel my hotel booking H-2231."
CALL = ("cancel_booking", {"booking_id": "H-2231"})
ANSWER = "Your booking H-2231 has been cancelled."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server's address."""
    with subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    """OpenAI's own client."""
    with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        yield client


def test_chat_completions_in_whole(client: OpenAI) -> None:
    """A call of a tool, then the answer."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    first = client.chat.completions.create(model="m", messages=messages).choices[0]
    assert first.message.tool_calls is not None
    (call,) = first.message.tool_calls
    assert call.type == "function"
    assert (call.function.name, json.loads(call.function.arguments)) == CALL
    assert first.finish_reason == "tool_calls"
    messages += [first.message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "ERROR"}]
    last = client.chat.completions.create(model="m", messages=messages).choices[0]
    assert (last.message.content, last.finish_reason) == (ANSWER, "stop")


def test_chat_completions_in_a_stream(client: OpenAI) -> None:
    """Pieces that the client puts together to the same."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    with client.chat.completions.stream(model="m", messages=messages) as stream:
        calls = stream.get_final_completion().choices[0].message.tool_calls
    assert calls is not None
    (call,) = calls
    assert (call.function.name, json.loads(call.function.arguments)) == CALL
    messages += [{"role": "assistant", "content": None, "tool_calls": [call.model_dump(exclude={"function": {"parsed_arguments"}})]}]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "ERROR"}]
    with client.chat.completions.stream(model="m", messages=messages) as stream:
        assert stream.get_final_completion().choices[0].message.content == ANSWER


def test_responses_in_whole_and_in_a_stream(client: OpenAI) -> None:
    """The same story over the other interface."""
    first = client.responses.create(model="m", input=QUESTION)
    (item,) = first.output
    assert item.type == "function_call"
    assert (item.name, json.loads(item.arguments)) == CALL
    history: list[Any] = [{"role": "user", "content": QUESTION}, item.model_dump(exclude_none=True)]
    history.append({"type": "function_call_output", "call_id": item.call_id, "output": "ERROR"})
    assert client.responses.create(model="m", input=history).output_text == ANSWER
    with client.responses.stream(model="m", input=history) as stream:
        assert stream.get_final_response().output_text == ANSWER
    with client.responses.stream(model="m", input=QUESTION) as stream:
        (streamed,) = stream.get_final_response().output
    assert streamed.type == "function_call"
    assert (streamed.name, json.loads(streamed.arguments)) == CALL


def test_gemini_in_whole_and_in_a_stream(url: str) -> None:
    """Calls come as functionCall parts; what a tool gave back has the user's role and begins no new turn."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": QUESTION}]}]
    told = asked(f"{url}/v1beta/models/m:generateContent", contents)
    (part,) = json.loads(told)["candidates"][0]["content"]["parts"]
    assert (part["functionCall"]["name"], part["functionCall"]["args"]) == CALL
    contents += [{"role": "model", "parts": [part]}]
    contents += [{"role": "user", "parts": [{"functionResponse": {"name": CALL[0], "response": {"error": "not found"}}}]}]
    streamed = asked(f"{url}/v1beta/models/m:streamGenerateContent?alt=sse", contents)
    event = json.loads(streamed.removeprefix("data: "))
    assert event["candidates"][0]["content"]["parts"] == [{"text": ANSWER}]


def asked(url: str, contents: list[Any]) -> str:
    body = json.dumps({"contents": contents}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=10) as response:
        return str(response.read().decode())


def test_no_two_replies_have_one_id(client: OpenAI) -> None:
    """Ids of replies are how two recordings of one are told from two."""
    ids = {client.chat.completions.create(model="m", messages=[{"role": "user", "content": QUESTION}]).id for _ in range(3)}
    assert len(ids) == 3


def test_no_story_hides_another() -> None:
    """The words that begin a story are in no other story's words, so that their order does not matter."""
    words = [story["words"] for story in STORIES]
    assert [(a, b) for a in words for b in words if a != b and a in b] == []
