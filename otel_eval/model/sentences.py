"""A sentence for every reason: what it means and, where something can be done, what to change.

Several tables and not one, for the same word can be a reason of two kinds and means another thing in each.
"""

from collections.abc import Mapping

from otel_eval.model.score import FailReason, SkipReason, UnitOutcome
from otel_eval.model.step import GapReason

GAP_SENTENCES: Mapping[GapReason, str] = {
    GapReason.CONTENT_NOT_CAPTURED: (
        "The span carries no messages: switch on the capture of content in its instrumentation (the switch of each: docs/dialects.md)."
    ),
    GapReason.REDACTED: "A placeholder stands where content was: it was masked on purpose, by the instrumentation or on the way.",
    GapReason.TRUNCATED: "The value was cut off and only its beginning was read: raise the SDK's limit of the length of attribute values.",
    GapReason.ATTRIBUTES_DROPPED: "The SDK dropped attributes or events of the span: raise its limit of their number (128 by default).",
    GapReason.UNREADABLE: "The value has no form that is known here.",
    GapReason.UNKNOWN_PART: "A message has a part of a kind that is not read; its place is kept.",
    GapReason.ARGUMENTS_UNREADABLE: "The arguments of a tool call are no JSON object; they are kept as text.",
    GapReason.RESULT_NOT_RECORDED: "Nowhere is it said what a tool gave back, neither by a span of its own nor in a later model call.",
    GapReason.ROLE_UNKNOWN: "It is not said who speaks, or in a word that is not known here.",
    GapReason.HISTORY_BREAK: (
        "A model call repeats another history than was seen before it: the application edited, summarised or left out messages."
    ),
    GapReason.CONTENT_EXTERNAL: "Content stands elsewhere and only its address was recorded.",
    GapReason.PARENT_MISSING: "The span names a parent that did not arrive: it was sampled away, lost, or sent to another worker.",
    GapReason.CONVERSATION_ID_CONFLICT: "Spans of one trace name different conversations.",
    GapReason.DUPLICATE_SPAN_CONFLICT: "Two spans have the same ids and different content; the first is used.",
}

SKIP_SENTENCES: Mapping[SkipReason, str] = {
    SkipReason.NEEDS_MISSING: (
        "The metric needs something that was not given (topics, a reference, a judge, a price list): give it, or leave the metric out."
    ),
    SkipReason.UNDEFINED: "The definition gives no number here, for example a share of nothing.",
    SkipReason.NOTHING_TO_JUDGE: "The conversation holds nothing of the kind that the metric looks at.",
    SkipReason.CONTENT_NOT_CAPTURED: (
        "Words that the metric needs were not recorded: switch on the capture of content (the switch of each: docs/dialects.md)."
    ),
    SkipReason.TRUNCATED: "Words that the metric needs were cut off before they arrived: raise the SDK's limits of attributes.",
}

FAIL_SENTENCES: Mapping[FailReason, str] = {
    FailReason.BUDGET_EXHAUSTED: "The judge's budget for this period is spent: raise it, sample less, or wait.",
    FailReason.DEADLINE: "There was no verdict in the time allowed.",
    FailReason.CONVERSATION_TOO_LONG: (
        "The conversation does not fit into the judge's window, however it is shortened: name a judge with a longer one."
    ),
    FailReason.DISAGREEMENT: "The judges asked did not agree.",
    FailReason.CANNOT_TELL: "The judge says that the conversation does not decide the question.",
    FailReason.METRIC_ERROR: "The metric itself failed, or was told something that it cannot use: the detail says which.",
    FailReason.JUDGE_UNAVAILABLE: "The judge's endpoint could not be reached or answered with an error of its own, also when tried again.",
    FailReason.JUDGE_TIMEOUT: "The judge did not answer in time: raise the time allowed, or name a faster one.",
    FailReason.JUDGE_RATE_LIMITED: "The judge's endpoint asked for less: ask for a higher limit, or judge fewer at once.",
    FailReason.JUDGE_QUOTA: "The account at the judge's endpoint is used up; nothing is asked until that is mended.",
    FailReason.JUDGE_AUTH: "The judge's endpoint refused the key: check it and what it may do.",
    FailReason.JUDGE_MISCONFIGURED: (
        "The judge's endpoint does not know the model, or cannot take this kind of question: check model and address."
    ),
    FailReason.JUDGE_FILTERED: (
        "The endpoint's content filter held back the question or the answer. Filters hit ugly conversations: read rates with it in mind."
    ),
    FailReason.JUDGE_REFUSED: "The judge refused to answer. Refusals hit ugly conversations: read rates with it in mind.",
    FailReason.JUDGE_TRUNCATED: "The judge's answer was cut off at its limit of tokens, also with a higher one.",
    FailReason.JUDGE_INPUT_TRUNCATED: "The judge's endpoint silently cut the question: raise the context length of the server.",
    FailReason.REPLY_EMPTY: "The judge's answer was empty.",
    FailReason.REPLY_UNPARSABLE: "The judge's answer is not the one JSON object that was asked for.",
    FailReason.REPLY_CONFLICT: "The judge's answer contradicts itself.",
    FailReason.REPLY_SCHEMA: "The judge's answer has other fields or words than were asked for.",
    FailReason.REPLY_INCOMPLETE: "The judge's answer leaves out some of what was asked.",
}

UNIT_SENTENCES: Mapping[UnitOutcome, str] = {
    UnitOutcome.PENDING: "It is not complete yet, or waits for a judge.",
    UnitOutcome.SCORED: "Metrics were run on it; what each of them said stands with its results.",
    UnitOutcome.SAMPLED_OUT: "The rate left it out: raise `selection.rate` to judge more.",
    UnitOutcome.FILTERED: "A filter of the section `selection` does not let it pass; the reason names the filter.",
    UnitOutcome.NO_GENAI_CONTENT: "None of its spans tells of a model call, a tool run or an agent.",
    UnitOutcome.CONTENT_NOT_CAPTURED: (
        "Nobody's words were recorded: switch on the capture of content in the instrumentation (the switch of each: docs/dialects.md)."
    ),
    UnitOutcome.NOT_UNDERSTOOD: "It looks like an agent's, and no conversation could be read: `otel-eval doctor` says what was met.",
    UnitOutcome.FRAGMENT: (
        "Parts of it never came, or may not have: they were sampled away, lost, or sent to another worker. `completion.fragments: score` "
        "scores such parts."
    ),
    UnitOutcome.EVALUATOR_OWN: "An evaluator's own spans or events; these are never judged.",
    UnitOutcome.EXPIRED: "It was given up after `store.max_age`, or because the store was full: see the judge and its budget.",
}
