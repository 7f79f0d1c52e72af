"""What an endpoint's answer means when it is not an answer: status and body to one closed reason.

**Source**: research on OpenAI, Azure, vLLM, llama.cpp, Ollama, LM Studio, LiteLLM, Gemini, Mistral, Groq and OpenRouter. Error bodies come
as an object with `error` (object or text), as a list of those, flat (`object: error`), or with `detail`; codes are trusted, prose is read
only for names of fields that we sent.
"""

import email.utils
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.errors import JudgeError

UNAVAILABLE, TIMEOUT, RATE_LIMITED, QUOTA = "judge_unavailable", "judge_timeout", "judge_rate_limited", "judge_quota"
AUTH, MISCONFIGURED, FILTERED, TOO_LONG = "judge_auth", "judge_misconfigured", "judge_filtered", "conversation_too_long"

RETRIED = frozenset({UNAVAILABLE, TIMEOUT, RATE_LIMITED})
"""Asking again may help."""
PAUSING = frozenset({QUOTA, AUTH, MISCONFIGURED})
"""Nothing helps until somebody changes something."""
COUNTED = frozenset({UNAVAILABLE, TIMEOUT})
"""The breaker counts these: the endpoint itself is in trouble."""

_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_credits",
        "payment_required",
        "credits_exhausted",
    }
)
_FILTER_CODES = frozenset({"content_filter", "responsibleaipolicyviolation", "content_policy_violation", "safety"})
_LENGTH_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length"})
_LENGTH_WORDS = re.compile(r"context (?:length|window|size)|maximum context|too many tokens|prompt is too long", re.IGNORECASE)
_LIMIT = re.compile(r"(?:context (?:length|window|size)|maximum)\D{0,40}?(\d{3,})", re.IGNORECASE)
_UNPARSABLE_CODES = frozenset({"json_validate_failed"})
_FORMAT_NAMES = (
    "response_format",
    "json_schema",
    "json_object",
    "structured output",
    "structured_outputs",
    "guided",
    "grammar",
    "tool_choice",
    "tools",
)
_TRANSIENT = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 522, 524, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An error answer, taken apart."""

    status: int
    code: str = ""
    param: str = ""
    message: str = ""
    limit_tokens: int | None = None

    def names(self, fields: Iterable[str]) -> str | None:
        """The first of our fields that the fault is about: by `param`, else as a word of the message."""
        known = sorted(fields, key=len, reverse=True)  # `max_tokens` is a part of other names
        if self.param:
            return next((f for f in known if self.param == f or self.param.startswith(f"{f}.")), None)
        return next((f for f in known if re.search(rf"(?<![\w.]){re.escape(f)}(?![\w])", self.message)), None)

    @property
    def is_about_format(self) -> bool:
        text = f"{self.param} {self.message}".lower()
        return any(name in text for name in _FORMAT_NAMES)

    @property
    def is_length(self) -> bool:
        return self.status == 413 or self.code.lower() in _LENGTH_CODES or bool(_LENGTH_WORDS.search(self.message))


def fault_from_body(status: int, body: Any) -> Fault:
    """The parts of an error body in any of its shapes; `body` is the parsed JSON, or the text where it is none."""
    error, inner = _error_object(body), _error_object(body).get("innererror")
    code = _word(error.get("code")) or _word(error.get("type")) or _word(error.get("status"))
    if isinstance(inner, Mapping) and _word(inner.get("code")).lower() in _FILTER_CODES:
        code = _word(inner.get("code"))
    if _word(error.get("type")).lower() in _QUOTA_CODES | _LENGTH_CODES:
        code = _word(error.get("type"))
    limit = error.get("n_ctx")
    return Fault(
        status=status,
        code=code,
        param=_param(error),
        message=_message(error, body)[:2000],
        limit_tokens=limit if isinstance(limit, int) else _limit(_message(error, body)),
    )


def status_inside(body: Any) -> int | None:
    """The status that an error object inside a 200 answer reports; 503 where it gives none; None where there is no error object."""
    if not isinstance(body, Mapping) or not body.get("error") or body.get("choices"):
        return None
    code = _error_object(body).get("code")
    try:
        number = int(str(code))
    except ValueError:
        return _STATUS_OF_CODE.get(_word(code).lower(), 503)
    return number if 400 <= number <= 599 else 503


_STATUS_OF_CODE: Mapping[str, int] = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "content_filter": 400,
    "context_length_exceeded": 400,
    "model_not_found": 404,
}


def error_from_fault(fault: Fault, *, retry_after_s: float | None = None) -> JudgeError:
    """The closed reason. Messages name status and code, never what the endpoint wrote: it may quote the conversation or the key."""
    reason = _reason(fault)
    named = f" ({fault.code})" if re.fullmatch(r"[\w.-]{1,60}", fault.code) else ""
    message = f"the judge's endpoint answered {fault.status}{named}: {_SENTENCES[reason]}"
    return JudgeError(reason, message, retry_after_s=retry_after_s, limit_tokens=fault.limit_tokens if reason == TOO_LONG else None)


def _reason(fault: Fault) -> str:
    code = fault.code.lower()
    if code in _QUOTA_CODES or fault.status == 402:
        return QUOTA
    if code in _FILTER_CODES:
        return FILTERED
    if fault.status in (400, 413, 422) and fault.is_length:
        return TOO_LONG
    if code in _UNPARSABLE_CODES:
        return "reply_unparsable"
    if fault.status == 403 and "model" in f"{code} {fault.message}".lower():
        return MISCONFIGURED
    return _BY_STATUS.get(fault.status) or (UNAVAILABLE if fault.status in _TRANSIENT or fault.status > 499 else MISCONFIGURED)


_BY_STATUS: Mapping[int, str] = {401: AUTH, 403: AUTH, 429: RATE_LIMITED}
_SENTENCES: Mapping[str, str] = {
    QUOTA: "the account is empty; judging pauses until it is filled",
    AUTH: "the key is not accepted; check OPENAI_API_KEY",
    RATE_LIMITED: "too many requests",
    UNAVAILABLE: "it is in trouble",
    MISCONFIGURED: "the request cannot be served; check --judge-model and --base-url",
    FILTERED: "its content filter stopped the question",
    TOO_LONG: "the conversation is longer than the model's window",
    "reply_unparsable": "the model's reply was no JSON object",
}


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the answer asks for, in seconds; None where it asks for none or in a way that cannot be read."""
    ms = _number(headers.get("retry-after-ms"))
    if ms is not None and ms >= 0:
        return ms / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return seconds if seconds > 0 else None
    date = email.utils.parsedate_tz(text) if text else None
    return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None


def parsed(text: str) -> Any:
    """A body as JSON; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _error_object(body: Any) -> Mapping[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return {}
    error = body.get("error", body)
    return error if isinstance(error, Mapping) else {"message": error}


def _param(error: Mapping[str, Any]) -> str:
    """The field that is named: `param`, or the last part of `detail[0].loc`."""
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], Mapping):
        loc = detail[0].get("loc")
        return _word(loc[-1]) if isinstance(loc, list) and loc else ""
    violations = [v for d in error.get("details") or [] if isinstance(d, Mapping) for v in d.get("fieldViolations") or []]
    if violations and isinstance(violations[0], Mapping):
        return _word(violations[0].get("field"))
    return _word(error.get("param"))


def _message(error: Mapping[str, Any], body: Any) -> str:
    message = error.get("message")
    if isinstance(message, str):
        return message
    return json.dumps(error, default=str) if error else str(body)


def _limit(message: str) -> int | None:
    found = _LIMIT.search(message)
    return int(found.group(1)) if found else None


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None
