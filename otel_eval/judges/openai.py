"""The judge behind any OpenAI-compatible chat endpoint. One `ask` is one answer of the endpoint, or its closed reason.

The SDK's own retries, redirects and parse helpers are switched off: a retried call can be billed twice, a redirect re-posts the
conversation to another origin, and `parse` raises from outside the SDK's own tree. The only requests that are sent again here are those
that the endpoint refused because of a field of ours; that is learnt once for each model.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import openai

from otel_eval.errors import JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Question, Reply, small_question
from otel_eval.judges.habits import TOOL_NAME, Habits
from otel_eval.judges.logprobs import verdict_probability
from otel_eval.judges.reply import CONFLICT, REFUSED, answer_from_text, is_refusal, repeats_record
from otel_eval.judges.settings import JudgeSettings
from otel_eval.model import JudgeUse
from otel_eval.quiet import quiet

_MOST_LESSONS: Final = 12  # requests of one ask that only taught us a field: more fields than that we do not send
_TOP_LOGPROBS: Final = 10
_OPENAI_HOSTS: Final = ("api.openai.com", "openai.azure.com")
REPAIR_SENTENCES: Final[Mapping[str, str]] = {
    "reply_empty": "it was empty",
    "reply_unparsable": "it was not one JSON object and nothing else",
    "reply_conflict": "it held more than one answer",
    "reply_schema": "a field was missing or had a word that is not allowed",
    "reply_incomplete": "entries were missing",
}


class Refused(Exception):
    """An error answer, taken apart, on its way to being understood."""

    def __init__(self, fault: faults.Fault, retry_after_s: float | None) -> None:
        super().__init__(fault.status)
        self.fault = fault
        self.retry_after_s = retry_after_s

    def error(self, use: JudgeUse) -> JudgeError:
        """The same as the closed reason, with what it took."""
        found = faults.error_from_fault(self.fault, retry_after_s=self.retry_after_s)
        return JudgeError(found.reason, str(found), retry_after_s=found.retry_after_s, use=use, limit_tokens=found.limit_tokens)


class Endpoint:
    """An OpenAI-compatible endpoint: one client, one place where its errors become closed reasons."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._timeout_s = settings.call_timeout_s
        self.client = openai.AsyncOpenAI(
            api_key=settings.api_key or "unused",
            base_url=settings.base_url,
            max_retries=0,
            timeout=settings.call_timeout_s,
            default_headers=_headers(settings),
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False, trust_env=settings.trust_env, timeout=settings.call_timeout_s
            ),
        )

    @property
    def is_openai(self) -> bool:
        return any(host in str(self.client.base_url) for host in _OPENAI_HOSTS)

    async def close(self) -> None:
        await self.client.close()

    async def chat(self, question: Question, body: Mapping[str, Any]) -> Any:
        """The parsed body of a chat completion."""
        create: Any = self.client.chat.completions.with_raw_response.create
        return await self._sent(question, lambda: create(**body), read=lambda raw: (raw.text, raw.headers))

    async def post(self, question: Question, path: str, body: Mapping[str, Any]) -> Any:
        """The parsed body of any other interface under the same address."""
        return await self._sent(question, lambda: self.client.post(path, cast_to=object, body=dict(body)), read=lambda found: (found, {}))

    async def _sent(self, question: Question, send: Callable[[], Awaitable[Any]], *, read: Callable[[Any], tuple[Any, Any]]) -> Any:
        """The body of a 200 answer. Raises `Refused` for an error answer, `JudgeError` for none at all."""
        try:
            async with asyncio.timeout(self._seconds_left(question)):
                with quiet():
                    text, headers = read(await send())
                body = faults.parsed(text) if isinstance(text, str) else text
        except (TimeoutError, openai.APITimeoutError):
            raise JudgeError(faults.TIMEOUT, "the judge did not answer in time") from None
        except openai.APIStatusError as error:
            body = faults.parsed(error.response.text)
            fault = faults.fault_from_body(error.status_code, body)
            raise Refused(fault, faults.retry_after_s(error.response.headers)) from None
        except (openai.APIConnectionError, openai.APIResponseValidationError, ValueError) as error:
            cause = type(error.__cause__ or error).__name__
            raise JudgeError(faults.UNAVAILABLE, f"the judge's endpoint could not be reached or broke off ({cause})") from None
        status = faults.status_inside(body)
        if status is not None:
            raise Refused(faults.fault_from_body(status, body), faults.retry_after_s(headers))
        return body

    def _seconds_left(self, question: Question) -> float:
        left = self._timeout_s
        if question.deadline is not None:
            left = min(left, question.deadline - time.monotonic())
        if left <= 0:
            raise JudgeError(faults.TIMEOUT, "there was no time left to ask the judge")
        return left


class OpenAIJudge:
    """Asks a chat model. `close` when done; the habits learnt are kept as long as the judge lives."""

    def __init__(self, settings: JudgeSettings, *, habits: Habits | None = None) -> None:
        self._settings = settings
        self._endpoint = Endpoint(settings)
        self.habits = habits or Habits(
            rung=settings.format, bounds=settings.bounds, cap="max_completion_tokens" if self._endpoint.is_openai else "max_tokens"
        )

    @property
    def model(self) -> str:
        return self._settings.model

    async def close(self) -> None:
        await self._endpoint.close()

    async def ask(self, question: Question) -> Reply:
        if self._settings.wording == "small":
            question = small_question(question)
        for _ in range(_MOST_LESSONS):
            fields = self._fields(question)
            body = {"model": self._settings.model, "messages": messages_from_question(question), **fields}
            try:
                return self._reply(question, await self._endpoint.chat(question, body))
            except Refused as refused:
                if not self._learn(refused.fault, fields):
                    raise refused.error(self._use(None, None)) from None
        raise JudgeError(faults.MISCONFIGURED, "the judge's endpoint refuses one field after the other; check --base-url")

    def _fields(self, question: Question) -> dict[str, Any]:
        wanted = {
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "reasoning_effort": self._settings.reasoning_effort,
            "logprobs": True if self._settings.logprobs else None,
            "top_logprobs": _TOP_LOGPROBS if self._settings.logprobs else None,
            "prompt_cache_key": question.group if self._endpoint.is_openai and question.group else None,
        }
        return self.habits.optional_fields(wanted, question.output_tokens) | self.habits.format_fields(question.form)

    def _learn(self, fault: faults.Fault, fields: Mapping[str, Any]) -> bool:
        """Whether the endpoint refused a field that we can leave out, or a format for which there is a simpler one."""
        if fault.status not in (400, 422) or fault.is_length:
            return False
        optional = set(fields) - {"response_format", "tools", "tool_choice"}
        name = fault.names(optional)
        if name is not None:
            self.habits.refuse(name)
            return True
        return fault.is_about_format and self.habits.step_down()

    def _reply(self, question: Question, body: Any) -> Reply:
        choice = _first_choice(body)
        use = self._use(question, body)
        try:
            self._check_finish(question, body, choice)
            text = _text(choice)
            answer, notes = self._answer(question, text)
            cached = _usage(body)[2]
            notes |= {"cached_input_tokens": cached} if cached else {}
        except JudgeError as error:
            raise JudgeError(error.reason, str(error), use=use) from None
        tokens = (choice.get("logprobs") or {}).get("content") if isinstance(choice.get("logprobs"), Mapping) else None
        confidence = verdict_probability(question.form, text, tokens, answer)
        return Reply(
            answer=answer, use=use, confidence=confidence, confidence_source=None if confidence is None else "logprobs", notes=notes
        )

    def _check_finish(self, question: Question, body: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
        finish = choice.get("finish_reason")
        if finish == "content_filter":
            raise JudgeError(faults.FILTERED, "the endpoint's content filter stopped the reply")
        if finish == "error":
            raise JudgeError(faults.UNAVAILABLE, "the endpoint's upstream failed in the middle of the reply")
        if _message(choice).get("refusal"):
            raise JudgeError(REFUSED, "the judge refused to judge this conversation")
        size = prompt_bytes(question)
        tokens = _usage(body)[0]
        if tokens is not None and self.habits.was_cut(size, tokens):
            raise JudgeError("judge_input_truncated", "the endpoint read only a part of the conversation: raise its context size")
        if tokens:
            self.habits.learn(size, tokens)
        if finish == "length":
            raise JudgeError("judge_truncated", "the reply was cut by the cap on output tokens")

    def _answer(self, question: Question, text: str) -> tuple[dict[str, Any], dict[str, int]]:
        if repeats_record(text, question.record):
            raise JudgeError(CONFLICT, "the judge's reply is a quotation from the conversation")
        try:
            return answer_from_text(question.form, text)
        except JudgeError as error:
            if error.reason == "reply_unparsable" and self.habits.rung == "plain" and is_refusal(text):
                raise JudgeError(REFUSED, "the judge refused to judge this conversation") from None
            raise

    def _use(self, question: Question | None, body: Any) -> JudgeUse:
        input_tokens, output_tokens, cached = _usage(body) if isinstance(body, Mapping) else (None, None, 0)
        price, cost = self._settings.price, None
        if price is not None and input_tokens is not None and output_tokens is not None:
            cost = price.cost_usd(input_tokens, output_tokens, cached)
        served = body.get("model") if isinstance(body, Mapping) else None
        return JudgeUse(
            kind="model",
            model=served if isinstance(served, str) and served else self._settings.model,
            prompt=question.prompt if question else None,
            prompt_hash=question.prompt_hash if question else None,
            calls=1,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_usd=cost,
        )


def messages_from_question(question: Question) -> list[dict[str, str]]:
    """System: the preamble, the same for all. User: record, question, and after a bad reply one sentence. (Some templates refuse two.)"""
    text = question.text
    if question.repair is not None:
        why = REPAIR_SENTENCES.get(question.repair, "it could not be read")
        text += (
            f"\n\nYour previous reply was not used: {why}. Answer the same question again with exactly one JSON object in the form above."
        )
    return [{"role": "system", "content": _encodable(question.preamble)}, {"role": "user", "content": _encodable(text)}]


def prompt_bytes(question: Question) -> int:
    """Size of the prompt in UTF-8: what token estimates are made from."""
    return sum(len(m["content"].encode()) for m in messages_from_question(question))


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no JSON body can carry."""
    return text.encode("utf-8", "replace").decode()


def _headers(settings: JudgeSettings) -> dict[str, Any]:
    """Organisation and project only where configured: the SDK would take them from the environment and send them to any endpoint."""
    return {
        "OpenAI-Organization": settings.organization or openai.Omit(),
        "OpenAI-Project": settings.project or openai.Omit(),
        **settings.headers,
    }


def _first_choice(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise JudgeError(faults.UNAVAILABLE, "the endpoint answered 200 with something that is no JSON object")
    choices = body.get("choices")
    if choices == []:
        raise JudgeError(faults.FILTERED, "the endpoint answered without any choice, as content filters do")
    if not isinstance(choices, list) or not isinstance(choices[0], Mapping):
        raise JudgeError(faults.UNAVAILABLE, "the endpoint answered 200 without choices")
    return choices[0]


def _message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, Mapping) else {}


def _text(choice: Mapping[str, Any]) -> str:
    """The reply's text: of the one tool call if there is one, else the content, joined where it comes in parts."""
    message = _message(choice)
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        functions = [c.get("function") for c in calls if isinstance(c, Mapping)]
        named = [f for f in functions if isinstance(f, Mapping) and f.get("name") == TOOL_NAME]
        if len(calls) > 1 or not named:
            raise JudgeError("reply_conflict", "the judge called more than the one tool it was given")
        return str(named[0].get("arguments") or "")
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(p.get("text") or "") for p in content if isinstance(p, Mapping) and p.get("type", "text") == "text")
    return content if isinstance(content, str) else ""


def _usage(body: Mapping[str, Any]) -> tuple[int | None, int | None, int]:
    """Input tokens, output tokens, and how many of the input were cached."""
    usage = body.get("usage")
    if not isinstance(usage, Mapping):
        return None, None, 0
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached) or 0


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
