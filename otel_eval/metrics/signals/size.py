"""Signals of size: length, tokens, time and cost. What was not recorded is no number, never 0."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from otel_eval.metrics.base import MetricCard, MetricInput, Parameter
from otel_eval.metrics.signals.signal import OURS, Signal, count, count_card, undefined
from otel_eval.model import Failed, FailReason, Outcome, Skipped, SkipReason, Usage

_USAGE = "gen_ai.usage.input_tokens and gen_ai.usage.output_tokens (OpenTelemetry GenAI conventions), summed over the model calls"
_A_MILLION = 1_000_000
_NS = 1_000_000_000
_PRICES = Parameter(
    name="prices",
    kind="mapping",
    sentence="US dollars a million tokens, input and output, by model: {'gpt-4o': [2.5, 10], '*': [1, 3]}; `*` stands for all others.",
)


def _message_count(given: MetricInput) -> Outcome:
    return count(given, len(given.messages), f"{len(given.messages)} messages")


def _turn_count(given: MetricInput) -> Outcome:
    turns = sum(m.role == "user" for m in given.messages)
    return count(given, turns, f"{turns} messages of the user")


def _model_call_count(given: MetricInput) -> Outcome:
    calls = given.conversation.model_calls
    return _whole(given) or (count(given, calls, f"{calls} model calls") if calls else _not_recorded("no span of a model call"))


def _tokens(read: Callable[[Usage], int | None]) -> Callable[[MetricInput], Outcome]:
    def measure(given: MetricInput) -> Outcome:
        tokens = read(given.conversation.usage)
        return _whole(given) or (_not_recorded("no token usage") if tokens is None else count(given, tokens, f"{tokens} tokens"))

    return measure


def _all_tokens(usage: Usage) -> int | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _duration_s(given: MetricInput) -> Outcome:
    place = given.conversation if given.turn is None else given.conversation.turns[given.turn]
    if not place.start_ns or place.end_ns < place.start_ns:
        return _not_recorded("no times")
    seconds = (place.end_ns - place.start_ns) / _NS
    return count(given, seconds, f"{seconds:.1f} s from the first span to the last")


def _cost_usd(given: MetricInput) -> Outcome:
    prices = given.parameters.get(_PRICES.name)
    if not prices:
        return Skipped(reason=SkipReason.NEEDS_MISSING, detail="no price list: give the parameter `prices`")
    if any(not _is_price(price) for price in prices.values()):
        return Failed(
            error_type=FailReason.METRIC_ERROR, detail="a price is two numbers, dollars a million input and output tokens: [2.5, 10]"
        )
    return _whole(given) or _priced(given, prices)


def _priced(given: MetricInput, prices: Mapping[str, Any]) -> Outcome:
    """The usage is one sum over all calls, so it has a price only where all models have the same."""
    usage, models = given.conversation.usage, given.conversation.models
    if usage.input_tokens is None or usage.output_tokens is None:
        return _not_recorded("no token usage")
    found = {tuple(prices.get(model, prices.get("*", ()))) for model in models or ("*",)}
    if () in found:
        return Skipped(
            reason=SkipReason.NEEDS_MISSING, detail=f"no price for one of {', '.join(models) or 'the models'}: add it to `prices`"
        )
    if len(found) > 1:
        return undefined("several models of different price, and tokens are not recorded by model")
    input_price, output_price = found.pop()
    dollars = (usage.input_tokens * input_price + usage.output_tokens * output_price) / _A_MILLION
    return count(given, dollars, f"{dollars:.4f} USD", input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)


def _is_price(price: Any) -> bool:
    return isinstance(price, list | tuple) and len(price) == 2 and all(isinstance(p, int | float) and p >= 0 for p in price)


def _whole(given: MetricInput) -> Skipped | None:
    """Model calls and tokens are known for the conversation, not for one turn of it."""
    return None if given.turn is None else undefined("recorded for the conversation as a whole, not by turn")


def _not_recorded(what: str) -> Skipped:
    return Skipped(reason=SkipReason.NEEDS_MISSING, detail=f"{what} was recorded; a trace with spans of model calls is needed")


def _token_card(name: str, sentence: str) -> MetricCard:
    return count_card(name, sentence, "two calls with 100 and 150 tokens: 250", unit="{token}", source=_USAGE)


MESSAGE_COUNT = Signal(
    measure=_message_count,
    card=count_card("message_count", "Messages of all roles.", "question, call, result, answer: 4", source=f"{OURS}: 1.6 (longest tenth)"),
)
TURN_COUNT = Signal(measure=_turn_count, card=count_card("turn_count", "Messages of the user.", "two questions: 2", better="neither"))
MODEL_CALL_COUNT = Signal(
    measure=_model_call_count,
    card=count_card("model_call_count", "Calls of a model.", "one to choose a tool, one to answer: 2", better="neither", source=_USAGE),
)
INPUT_TOKENS = Signal(measure=_tokens(lambda usage: usage.input_tokens), card=_token_card("input_tokens", "Tokens sent to models."))
OUTPUT_TOKENS = Signal(measure=_tokens(lambda usage: usage.output_tokens), card=_token_card("output_tokens", "Tokens written by models."))
TOTAL_TOKENS = Signal(measure=_tokens(_all_tokens), card=_token_card("total_tokens", "Tokens sent to models and written by them."))
DURATION_S = Signal(
    measure=_duration_s,
    card=count_card("duration_s", "Seconds from the first span's start to the last span's end.", "12:00:00 to 12:00:04.5: 4.5", unit="s"),
)
COST_USD = Signal(
    measure=_cost_usd,
    card=replace(
        count_card("cost_usd", "What the model calls cost, by a price list.", "1000 input tokens at 2.5 a million: 0.0025", unit="USD"),
        parameters=(_PRICES,),
    ),
)
