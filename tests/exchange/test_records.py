"""One door for JSON conversations of every form."""

import json
from typing import Any

import pytest
from hypothesis import given

from otel_eval.errors import InputError
from otel_eval.exchange.adk import adk_from_conversation
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.exchange.openai import openai_from_conversation
from otel_eval.exchange.own import own_from_conversation
from otel_eval.exchange.ragas import ragas_from_conversation
from otel_eval.exchange.records import conversation_from_record, records_within
from otel_eval.model import Conversation
from tests.fakes.any_conversation import JSON_VALUES, conversations
from tests.fakes.conversations import conversation, says, user

WRITERS = [own_from_conversation, openai_from_conversation, messages_from_conversation, ragas_from_conversation, adk_from_conversation]


@pytest.mark.parametrize("write", WRITERS)
def test_each_form_is_recognised(write: Any) -> None:
    """What any of our writers writes is read back as the same words under the same id, and as given."""
    there = conversation(user("Hello"), says("Hi"))
    read = conversation_from_record(write(there))
    assert (read.id, read.messages, read.turns, read.joined_by) == (there.id, there.messages, there.turns, "given")


@given(conversations())
def test_any_conversation_can_be_written_and_read(there: Conversation) -> None:
    """Whatever stands in a conversation, every form can be written, is JSON, and is read without an error."""
    for write in WRITERS:
        conversation_from_record(json.loads(text_from_value(write(there))))


@pytest.mark.parametrize("record", [{}, {"messages": "hello"}, {"resourceSpans": []}, {"schema": "another/1"}])
def test_what_is_none_says_so(record: dict[str, Any]) -> None:
    """An object in no known form is an error that names the forms."""
    with pytest.raises(InputError, match=r"is no conversation: expected a list 'messages' .*'user_input' .*'conversation'"):
        conversation_from_record(record)


@pytest.mark.parametrize("member", ["messages", "user_input", "conversation", "eval_cases"])
@given(value=JSON_VALUES)
def test_nothing_but_our_error_is_raised(member: str, value: Any) -> None:
    """Whatever stands under the telling member, it is a conversation or an InputError."""
    for content in (value, [value], [{"role": "user", "type": "ai", "user_content": value, "content": value, "tool_calls": value}]):
        try:
            for record in records_within({member: content}):
                conversation_from_record(record)
        except InputError:
            continue
