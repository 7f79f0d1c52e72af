"""Any JSON conversation in: our own schema, OpenAI's chat messages, the plain form, ragas' samples, ADK's cases."""

from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.adk_in import conversation_from_adk
from otel_eval.exchange.messages import conversation_from_messages
from otel_eval.exchange.own import FAMILY, conversation_from_own
from otel_eval.exchange.ragas import conversation_from_ragas
from otel_eval.exchange.record import Record
from otel_eval.model import Conversation

_READERS: Mapping[str, Callable[[Mapping[str, Any]], Conversation]] = {
    "user_input": conversation_from_ragas,
    "conversation": conversation_from_adk,
    "messages": conversation_from_messages,
}
"""The member whose list tells the form, most telling first."""


def conversation_from_record(record: Mapping[str, Any]) -> Conversation:
    """The conversation of one object in any of the known forms; InputError where it is none, or not as its form has it."""
    schema = record.get("schema")
    if isinstance(schema, str) and schema.startswith(FAMILY):
        return conversation_from_own(record)
    for member, read in _READERS.items():
        if isinstance(record.get(member), list):
            return read(record)
    raise InputError(
        "the object is no conversation: expected a list 'messages' (OpenAI's form, or ours), 'user_input' (ragas) or 'conversation' (ADK)"
    )


def records_within(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects that are a conversation each: of a set of ADK's cases all that are told turn by turn, else the object itself."""
    cases = Record(record).value("eval_cases", "evalCases")
    if not isinstance(cases, list):
        return [record]
    return [case for case in cases if isinstance(case, Mapping) and isinstance(case.get("conversation"), list)]
