"""The model judge on the wire: what is sent, what is learnt, and what each way of misbehaving is called."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import openai
import pytest
from opentelemetry import context

from otel_eval.errors import JudgeError
from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Form, Question, Wording, verdict_first
from otel_eval.judges.base import Reply as Answer
from otel_eval.judges.openai import OpenAIJudge
from otel_eval.judges.settings import JudgeSettings, Price
from tests.fakes.judge_server import JudgeServer, Reply, completion, verdict

FORM = Form(name="yes_no", fields={"reason": REASON, "evidence": Blocks(count=4), "certainty": CERTAINTY, "verdict": VERDICT})
YES = {"reason": "ok", "evidence": [2], "certainty": "clear", "verdict": "yes"}
QUESTION = Question(name="yes_no", form=FORM, preamble="PREAMBLE", record="RECORD", ask="QUESTION", prompt="yes_no.v1", group="g1")


def error(status: int, **members: Any) -> dict[str, Any]:
    return {"status": status, "json": {"error": {"message": "?", "type": None, "param": None, "code": None, **members}}}


async def asked(server: JudgeServer, question: Question = QUESTION, **settings: Any) -> Answer | JudgeError:
    judge = OpenAIJudge(JudgeSettings(**{"model": "m-1", "base_url": server.url, "api_key": "sk-1", **settings}))
    try:
        return await judge.ask(question)
    except JudgeError as caught:
        return caught
    finally:
        await judge.close()


def run(replies: Sequence[Reply], question: Question = QUESTION, **settings: Any) -> tuple[Answer | JudgeError, JudgeServer]:
    async def all_of_it() -> tuple[Answer | JudgeError, JudgeServer]:
        async with JudgeServer(replies) as server:
            return await asked(server, question, **settings), server

    return asyncio.run(all_of_it())


def reason(replies: Sequence[Reply], question: Question = QUESTION, **settings: Any) -> str:
    outcome, _ = run(replies, question, **settings)
    assert isinstance(outcome, JudgeError), outcome
    return outcome.reason


def test_the_request() -> None:
    """Preamble as system, record then question as user; strict schema, temperature 0, a cap, and no header that was not configured."""
    outcome, server = run([verdict(YES)])
    (request,), (headers,) = server.requests, server.headers
    assert isinstance(outcome, Answer)
    assert request["messages"] == [{"role": "system", "content": "PREAMBLE"}, {"role": "user", "content": "RECORD\n\nQUESTION"}]
    assert request["response_format"]["json_schema"]["strict"] is True
    assert (request["temperature"], request["max_tokens"]) == (0.0, 1024)
    assert not {"seed", "logprobs", "prompt_cache_key", "reasoning_effort"} & request.keys()
    assert not {"openai-organization", "openai-project"} & headers.keys()


def test_the_use() -> None:
    """Tokens as reported, the model as served, the cost where the price is known and cached tokens cost less."""
    body = verdict(YES)
    body["json"]["usage"]["prompt_tokens_details"] = {"cached_tokens": 400}
    outcome, _ = run([body], price=Price(input_usd=1.0, output_usd=2.0, cached_input_usd=0.1))
    assert isinstance(outcome, Answer)
    assert (outcome.use.model, outcome.use.calls, outcome.use.input_tokens, outcome.use.output_tokens) == ("fake-1", 1, 900, 60)
    assert outcome.use.cost_usd == pytest.approx((500 * 1.0 + 400 * 0.1 + 60 * 2.0) / 1e6)
    free, _ = run([verdict(YES)])
    assert isinstance(free, Answer)
    assert free.use.cost_usd is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (error(500), "judge_unavailable"),
        (error(529), "judge_unavailable"),
        (error(429), "judge_rate_limited"),
        (error(429, code="insufficient_quota"), "judge_quota"),
        (error(429, message="quota of requests a minute"), "judge_rate_limited"),
        (error(402), "judge_quota"),
        (error(401), "judge_auth"),
        (error(403), "judge_auth"),
        (error(403, message="no access to model m-1"), "judge_misconfigured"),
        (error(404, code="model_not_found"), "judge_misconfigured"),
        (error(400, code="content_filter"), "judge_filtered"),
        (error(400, innererror={"code": "ResponsibleAIPolicyViolation"}), "judge_filtered"),
        (error(400, code="context_length_exceeded"), "conversation_too_long"),
        (error(413), "conversation_too_long"),
        (error(400, code="json_validate_failed"), "reply_unparsable"),
        ({"status": 400, "json": [{"error": {"code": 400, "message": "bad"}}]}, "judge_misconfigured"),
        ({"status": 400, "json": {"error": "bad"}}, "judge_misconfigured"),
        ({"status": 200, "text": "<html>bad gateway</html>"}, "judge_unavailable"),
        ({"status": 200, "text": ""}, "judge_unavailable"),
        ({"status": 200, "json": {"error": {"message": "upstream", "code": 429}}}, "judge_rate_limited"),
        ({"status": 200, "json": {"error": {"message": "upstream"}}}, "judge_unavailable"),
        ({"status": 200, "json": {"choices": []}}, "judge_filtered"),
        ({"status": 200, "json": {"id": "x"}}, "judge_unavailable"),
        (completion("{}", finish="content_filter"), "judge_filtered"),
        (completion("{}", finish="error"), "judge_unavailable"),
        (completion(json.dumps(YES), finish="length"), "judge_truncated"),
        (completion(None, refusal="No."), "judge_refused"),
        (completion(None), "reply_empty"),
        ({"reset": True, "after": 20, **verdict(YES)}, "judge_unavailable"),
    ],
)
def test_each_way_to_fail_has_its_reason(reply: Reply, expected: str) -> None:
    """Status, body and reply in every shape that endpoints use; none of them is ever a verdict."""
    assert reason([reply]) == expected


def test_the_message_holds_no_secret() -> None:
    """What the endpoint wrote, which may quote the conversation or the key, is not in our message."""
    outcome, _ = run([error(401, message="key sk-1 for PREAMBLE", code="sk-1 is bad")])
    assert isinstance(outcome, JudgeError)
    assert "sk-1" not in str(outcome)


def test_a_redirect_is_not_followed() -> None:
    """A 307 to another origin would post the conversation there: it is an error of configuration."""

    async def both() -> tuple[Answer | JudgeError, list[Any]]:
        async with JudgeServer([verdict(YES)]) as other:
            moved = {"status": 307, "headers": {"Location": f"{other.url}/chat/completions"}, "json": {}}
            async with JudgeServer([moved]) as server:
                return await asked(server), other.requests

    outcome, requests = asyncio.run(both())
    assert isinstance(outcome, JudgeError)
    assert outcome.reason == "judge_misconfigured"
    assert requests == []


@pytest.mark.parametrize("reply", [{"hang": True}, {"trickle_s": 0.2, **verdict(YES)}])
def test_a_slow_answer_is_cut_at_the_deadline(reply: Reply) -> None:
    """No answer, and one that trickles byte by byte: both end when the time is over, not when a single read takes too long."""
    start = time.monotonic()
    assert reason([reply], replace(QUESTION, deadline=start + 0.5)) == "judge_timeout"
    assert time.monotonic() - start < 1.5


def test_a_refused_field_is_left_out_from_then_on() -> None:
    """The endpoint names a field of ours: the same question goes again without it, and so does every later one."""

    async def two() -> JudgeServer:
        refusal = error(400, param="temperature", message="Unsupported value: 'temperature'")
        async with JudgeServer([refusal, verdict(YES)]) as server:
            judge = OpenAIJudge(JudgeSettings(model="m", base_url=server.url))
            await judge.ask(QUESTION)
            await judge.ask(QUESTION)
            await judge.close()
            return server

    server = asyncio.run(two())
    assert ["temperature" in r for r in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, param="max_tokens", message="Use 'max_completion_tokens' instead."),
        {"status": 422, "json": {"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"]}]}},
        {"status": 400, "json": [{"error": {"code": 400, "message": 'Invalid JSON payload. Unknown name "max_tokens"'}}]},
    ],
)
def test_the_cap_has_a_second_name(refusal: Reply) -> None:
    """`max_tokens` refused, in the words of three endpoints: the cap goes under its other name."""
    outcome, server = run([refusal, verdict(YES)])
    assert isinstance(outcome, Answer)
    assert "max_tokens" not in server.requests[1]
    assert server.requests[1]["max_completion_tokens"] == 1024


def test_the_ladder_of_formats() -> None:
    """Schema, one strict tool, JSON mode, plain: each refusal goes one step down, and the last answer is parsed all the same."""
    refusals = [
        error(400, param="response_format", message="json_schema is not supported"),
        error(400, message="tools are not supported with this model"),
        error(400, message="'response_format.type' must be 'json_schema' or 'text'"),
    ]
    outcome, server = run([*refusals, verdict(YES)])
    assert isinstance(outcome, Answer)
    formats = [r.get("response_format", {}).get("type") or ("tools" if "tools" in r else "plain") for r in server.requests]
    assert formats == ["json_schema", "tools", "json_object", "plain"]


def test_the_answer_of_a_tool_call() -> None:
    """On the tools rung the arguments of the one call are the answer; two calls contradict each other."""
    function = {"name": "answer", "arguments": json.dumps(YES)}
    one = completion(None, tool_calls=[{"id": "1", "type": "function", "function": function}])
    two = completion(None, tool_calls=[{"id": str(n), "type": "function", "function": function} for n in (1, 2)])
    outcome, _ = run([one], format="tools")
    assert isinstance(outcome, Answer)
    assert outcome.answer["verdict"] == "yes"
    assert reason([two], format="tools") == "reply_conflict"


def test_content_in_parts_is_joined() -> None:
    """A content list of text parts is one text."""
    text = json.dumps(YES)
    outcome, _ = run([completion([{"type": "text", "text": text[:9]}, {"type": "text", "text": text[9:]}])])
    assert isinstance(outcome, Answer)


def test_a_silently_cut_prompt_is_noticed() -> None:
    """An endpoint that counts far fewer tokens than were sent has judged only a part: no verdict."""
    long = replace(QUESTION, record="word " * 20_000)
    assert reason([completion(json.dumps(YES), prompt_tokens=2048)], long) == "judge_input_truncated"
    whole, _ = run([completion(json.dumps(YES), prompt_tokens=25_000)], long)
    assert isinstance(whole, Answer)


def test_the_window_is_learnt_from_the_refusal() -> None:
    """A context error says how long the window is: the metric can render a shorter record."""
    for body in (
        error(400, type="exceed_context_size_error", n_ctx=4096, n_prompt_tokens=9000),
        error(400, code="context_length_exceeded", message="This model's maximum context length is 4096 tokens."),
    ):
        outcome, _ = run([body])
        assert isinstance(outcome, JudgeError)
        assert outcome.limit_tokens == 4096


def test_confidence_from_log_probabilities() -> None:
    """P(yes) over the spellings of the options; absent where the options hold too little of the mass."""

    def reply(top: list[dict[str, Any]]) -> dict[str, Any]:
        text = json.dumps(YES)
        start = text.index('"yes"') + 1
        tokens = [{"token": text[:start], "logprob": 0.0}, {"token": "yes", "logprob": -0.1, "top_logprobs": top}]
        body = completion(text)
        body["json"]["choices"][0]["logprobs"] = {"content": [*tokens, {"token": text[start + 3 :], "logprob": 0.0}]}
        return body

    sure = reply([{"token": "yes", "logprob": -0.357}, {"token": "Yes", "logprob": -2.303}, {"token": "no", "logprob": -1.609}])
    outcome, server = run([sure], logprobs=True)
    assert server.requests[0]["logprobs"] is True
    assert isinstance(outcome, Answer)
    assert outcome.confidence == pytest.approx(0.8, abs=0.01)
    assert outcome.confidence_source == "logprobs"
    unsure, _ = run([reply([{"token": "yes", "logprob": -3.0}, {"token": "The", "logprob": -0.1}])], logprobs=True)
    assert isinstance(unsure, Answer)
    assert unsure.confidence is None


def test_half_characters_do_not_break_the_request() -> None:
    """A lone surrogate, which no JSON body can carry, is replaced."""
    outcome, server = run([verdict(YES)], replace(QUESTION, record="half \ud800 pair"))
    assert isinstance(outcome, Answer)
    assert "half ? pair" in server.requests[0]["messages"][1]["content"]


def test_no_instrumentation_sees_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the call the switches are set by which instrumentations keep still; outside everything is as before."""
    seen: list[tuple[object, object]] = []
    client: Any = openai.DefaultAsyncHttpxClient
    send = client.send

    async def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append((context.get_value("suppress_instrumentation"), context.get_value("suppress_http_instrumentation")))
        return await send(self, *args, **kwargs)

    monkeypatch.setattr(client, "send", watched)
    run([verdict(YES)])
    assert seen == [(True, True)]
    assert context.get_value("suppress_instrumentation") is None


@pytest.mark.parametrize(
    ("wording", "ask", "first"), [("small", "SMALL", "verdict"), ("full", "QUESTION", "reason"), (None, "QUESTION", "reason")]
)
def test_the_words_for_small_models_where_they_are_set(wording: str | None, ask: str, first: str) -> None:
    """`wording` decides which words and which order of fields go out, and the use names the prompt that was sent."""
    words = Wording(form=verdict_first(FORM), ask="SMALL", prompt="yes_no_small.v1", prompt_hash="h2")
    outcome, server = run([verdict(YES)], replace(QUESTION, small=words), wording=wording)
    (request,) = server.requests
    assert isinstance(outcome, Answer)
    assert request["messages"][1]["content"] == f"RECORD\n\n{ask}"
    assert next(iter(request["response_format"]["json_schema"]["schema"]["properties"])) == first
    assert outcome.use.prompt == ("yes_no_small.v1" if wording == "small" else "yes_no.v1")
    assert outcome.answer["verdict"] == "yes"
