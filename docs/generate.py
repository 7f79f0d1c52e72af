"""Writes the documents that are made from code: `make docs`. With --check it writes nothing and fails where one is stale.

What a plug-in, an option or an outcome is stands once, in the code, on its card; these pages only show it.
"""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from otel_eval import dialects, metrics
from otel_eval.cli import EXIT_CODES, main
from otel_eval.exchange import adk, messages, openai, own, ragas
from otel_eval.exchange.schema import CONVERSATION, DEFINITIONS
from otel_eval.model import Conversation, Message, SpanRef, Text, ToolCall, ToolResult, ToolRun, Turn
from otel_eval.model.sentences import FAIL_SENTENCES, GAP_SENTENCES, SKIP_SENTENCES, UNIT_SENTENCES
from otel_eval.service.commands.config import schema_text
from otel_eval.service.config import MetricConfig
from otel_eval.service.config.render import documented
from otel_eval.service.switches import DIALECT_OF_SCOPE, TEXT_OF_SCOPE
from otel_eval.telemetry import INSTRUMENTS

DOCS = Path(__file__).parent
EXAMPLE_WIDTH = 110
NOTICE = "<!-- Made from the code by docs/generate.py: run `make docs`, do not edit. -->"


def page(title: str, introduction: str, *blocks: str) -> str:
    """A whole document."""
    return "\n\n".join([NOTICE, f"# {title}", introduction, *blocks]) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(map(in_cell, row))} |" for row in [head, ("---",) * len(head), *rows])


def in_words(text: str) -> str:
    """Words of a card: what looks like a tag is none."""
    return text.replace("<", "&lt;")


def in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def commands_below(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """The command and all below it, each with its context."""
    yield command, context
    if isinstance(command, click.Group):
        for name, child in sorted(command.commands.items()):
            yield from commands_below(child, click.Context(child, info_name=name, parent=context))


def command_block(command: click.Command, context: click.Context) -> str:
    """What one command is for, how it is called, and its options."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parameters = [parameter for parameter in command.get_params(context) if isinstance(parameter, click.Option)]
    records = [record for parameter in parameters if (record := parameter.get_help_record(context))]
    options = table(("option", "what it does"), [(f"`{names}`", says.replace("  [", " [")) for names, says in records])
    return f"## {context.command_path}\n\n{inspect.cleandoc(command.help or '')}\n\n```text\n{usage}\n```\n\n{options}"


def cli_page() -> str:
    """Every command with its options, from what click knows."""
    codes = EXIT_CODES.replace("\b\nExit codes:\n", "").rstrip()
    context = click.Context(main, info_name="otel-eval", **main.context_settings)
    blocks = [command_block(*found) for found in commands_below(main, context)]
    return page("The command line", f"Every command leaves with one of these codes:\n\n```text\n{codes}\n```", *blocks)


def card_block(card: Any) -> str:
    """A card: its sentence, then every other field that says something."""
    rows = [(field.name.replace("_", " "), said) for field in fields(card) if (said := text_from_value(getattr(card, field.name)))]
    kept = [row for row in rows if row[0] not in {"name", "sentence"}]
    return f"## {card.name}\n\n{in_words(card.sentence)}\n\n{table(('', ''), kept)}"


def text_from_value(value: Any) -> str:
    """A field of a card in words; "" where there is nothing to say."""
    match value:
        case None | "":
            return ""
        case str():
            return in_words(value)
        case True | False:
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case tuple((float() | int(), float() | int())):
            return f"{value[0]:g} to {value[1]:g}"
        case frozenset():
            return text_from_value(tuple(sorted(value)))
        case tuple():
            return "<br>".join(map(text_from_item, value))
    return str(value)


def text_from_item(item: Any) -> str:
    """One of many: a name as code, a small card as its name and sentence."""
    if is_dataclass(item):
        default = getattr(item, "default", None)
        return f"`{getattr(item, 'name', item)}`: {getattr(item, 'sentence', '')}{'' if default is None else f' Default: `{default}`.'}"
    return f"`{item}`"


def dialects_page() -> str:
    """Every built-in dialect, in the order in which they are asked, then the switches that no dialect's card tells."""
    introduction = (
        "A dialect reads one span of one instrumentation. They are asked in the order of this page, most specific first; "
        "of each field the first that says something wins. `otel-eval dialects` shows the same in a terminal, and `otel-eval doctor` "
        "says which switch is missing in traces of yours.\n\n"
        "A name in `detects` that ends in a dot is a prefix; `event:NAME` is a span event or log record."
    )
    cards = [dialect.info for dialect in dialects.BUILTIN]
    overview = table(("dialect", "reads"), [(f"[{card.name}](#{card.name})", in_words(card.sentence)) for card in cards])
    return page("Dialects", introduction, overview, *map(card_block, cards), scopes_block())


def scopes_block() -> str:
    """The switches of packages that keep to the conventions, by the name of their scope."""
    introduction = (
        "Packages that keep to the conventions are read by `otel_genai`, and some have a switch of their own. The doctor knows them by the "
        "name of their instrumentation scope, or its beginning up to a dot; spans are never read by that name."
    )
    rows = [(f"`{scope}`", text) for scope, text in TEXT_OF_SCOPE.items()]
    rows += [(f"`{scope}`", f"as of [{name}](#{name})") for scope, name in DIALECT_OF_SCOPE.items()]
    return f"## Switches by scope\n\n{introduction}\n\n{table(('scope', 'switch'), rows)}"


FORMS: Mapping[str, tuple[str, ModuleType, Callable[[Conversation], dict[str, Any]]]] = {
    "json": ("Our own form", own, own.own_from_conversation),
    "messages": ("The plain form", messages, messages.messages_from_conversation),
    "openai": ("OpenAI's chat messages", openai, openai.openai_from_conversation),
    "ragas": ("ragas' multi-turn samples", ragas, ragas.ragas_from_conversation),
    "adk": ("ADK's evaluation cases", adk, adk.adk_from_conversation),
}
"""The forms of a conversation by the word of `convert --format`: title, module, writer."""


def example_conversation() -> Conversation:
    """One turn with a tool call, as read from a trace."""
    span_ids = ("eee19b7ec3c1b174", "eee19b7ec3c1b175", "eee19b7ec3c1b176")
    root, model, tool = (SpanRef(trace_id="5b8efff798038103d269b633813fc60c", span_id=span_id) for span_id in span_ids)
    told = ToolResult(call_id="call_1", name="find_trains", content='["09:10", "13:10"]')
    said = (
        Message(role="user", parts=(Text(text="Is there a train to Oslo today?"),), source=model),
        Message(role="assistant", parts=(ToolCall(id="call_1", name="find_trains", arguments={"to": "Oslo"}),), source=model),
        Message(role="tool", parts=(told,), source=model),
        Message(role="assistant", parts=(Text(text="Yes: at 09:10 and 13:10."),), source=model),
    )
    start, end = 1_790_000_000_000_000_000, 1_790_000_003_000_000_000
    return Conversation(
        id="conv-7",
        messages=said,
        turns=(Turn(messages=said, trace_ids=(root.trace_id,), root=root, start_ns=start, end_ns=end),),
        system="You help with trains.",
        agent="travel",
        agents=("travel",),
        tool_runs=(ToolRun(call_id="call_1", name="find_trains", source=tool, is_error=False, start_ns=start, end_ns=end),),
        trace_ids=(root.trace_id,),
        spans=(root, model, tool),
        joined_by="conversation_id",
        dialects=("otel_genai",),
        models=("gpt-4o-mini",),
        model_calls=2,
        start_ns=start,
        end_ns=end,
    )


def conversation_page() -> str:
    """Every form of a conversation in JSON, with an example that its writer wrote."""
    introduction = (
        "`otel-eval convert --format …` writes one object a line in any of these forms. `convert`, `score` and `doctor` read them all, "
        "beside traces or alone: lines, a JSON list, or one object a file. A form is told by its members: `schema`, else a list "
        "`user_input` (ragas), `conversation` or `eval_cases` (ADK), `messages` (OpenAI's form or the plain one). Only our own form loses "
        "nothing; of what is read from another, `joined_by` is `given`. What stands beside a conversation may be its reference: see "
        "[references](references.md)."
    )
    return page("Conversations in JSON", introduction, *[form_block(word, *form) for word, form in FORMS.items()])


def form_block(word: str, title: str, module: ModuleType, write: Callable[[Conversation], dict[str, Any]]) -> str:
    """One form: what its module says of it, an example, and of our own form every member."""
    example = laid_out(write(example_conversation()))
    blocks = [f"## {title}: `--format {word}`", inspect.getdoc(module) or "", f"```json\n{example}\n```"]
    return "\n\n".join([*blocks, *(members_blocks() if module is own else [])])


def laid_out(value: Any, indent: str = "") -> str:
    """JSON for reading: what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= EXAMPLE_WIDTH or not isinstance(value, dict | list):
        return line
    inner = f"{indent}  "
    if isinstance(value, list):
        items = [laid_out(item, inner) for item in value]
    else:
        items = [f"{json.dumps(key)}: {laid_out(item, inner)}" for key, item in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"


def members_blocks() -> Iterator[str]:
    """The members of our own form, from its JSON Schema."""
    yield "The JSON Schema is [conversation.schema.json](conversation.schema.json)."
    for name, schema in {"conversation": CONVERSATION, **DEFINITIONS}.items():
        rows = [
            (f"`{member}`{'' if member in schema['required'] else ' (optional)'}", kind_in_words(said), said.get("description", ""))
            for member, said in schema["properties"].items()
        ]
        yield f"### {name}\n\n{schema['description']}\n\n{table(('member', 'kind', 'what it is'), rows)}"


def kind_in_words(schema: Mapping[str, Any]) -> str:
    """The kind of a member's value, in a word or two."""
    if "$ref" in schema:
        return f"[{schema['$ref'].rpartition('/')[2]}](#{schema['$ref'].rpartition('/')[2]})"
    if "anyOf" in schema:
        return " or ".join(map(kind_in_words, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        return f"list of {kind_in_words(schema['items'])}"
    return " or ".join(schema["type"]) if isinstance(schema["type"], list) else str(schema["type"])


def schema_file() -> str:
    """The JSON Schema of our own form."""
    return json.dumps(CONVERSATION, indent=2, ensure_ascii=False) + "\n"


def metrics_page() -> str:
    """Every built-in metric."""
    introduction = "Every metric answers with a score, a reason why it does not apply, or a failure: see [outcomes](outcomes.md)."
    return page("Metrics", introduction, *[card_block(metrics.builtin_metric(name).card) for name in metrics.BUILTIN])


def reasons_block(title: str, introduction: str, sentences: Mapping[Any, str]) -> str:
    """A closed set of reasons, each with its sentence."""
    rows = [(f"`{reason.value}`", sentence) for reason, sentence in sentences.items()]
    return f"## {title}\n\n{introduction}\n\n{table(('reason', 'what it means, and what to change'), rows)}"


def outcomes_page() -> str:
    """Every reason for which something is missing, does not apply or failed."""
    return page(
        "Outcomes",
        "Nothing is invented: what could not be read or judged says why. These sets are closed.",
        reasons_block("Units", "What became of a trace or conversation; `otel-eval explain ID` says it.", UNIT_SENTENCES),
        reasons_block("Gaps", "Why something is missing from a conversation.", GAP_SENTENCES),
        reasons_block("Skipped", "Why a metric did not apply; no fault of anybody.", SKIP_SENTENCES),
        reasons_block("Failed", "Why a metric that applied has no value; `error.type` of the result event.", FAIL_SENTENCES),
    )


def config_page() -> str:
    """Every key of the configuration, by section."""
    introduction = (
        "`otel-eval serve` reads a file (`--config`, else `OTEL_EVAL_CONFIG`, else `otel-eval.yaml` here) and works without any. "
        "`otel-eval init` writes one in which every key is commented out, `otel-eval config check` says what a configuration comes to, "
        "[config.schema.json](config.schema.json) is its JSON Schema.\n\n"
        "Every key is also an environment variable, which goes before the file: `selection.rate` is `OTEL_EVAL__SELECTION__RATE`; "
        "an empty one counts as unset. "
        "Durations are written `250ms`, `10s`, `15m`, `24h`, `3d`; sizes `64MiB`, `2GiB`. Secrets (`token`, `api_key`, `headers`) come "
        "from the environment or from the file that the key beside them names, never from the configuration file itself. What is unset of "
        "an OTLP sink is taken from the standard `OTEL_EXPORTER_OTLP_*` variables."
    )
    blocks = []
    for path, sentence, rows in documented():
        if rows and path:
            shown = table(("key", "default", "what it is"), [(f"`{name}`", f"`{default}`", said) for name, default, said in rows])
            blocks.append(f"## {path}\n\n{' '.join(sentence.split())}\n\n{shown}")
        elif rows:
            blocks += [f"## {name}\n\n{said} Default: `{default}`.\n\n{metric_keys()}" for name, default, said in rows]
    return page("Configuration", introduction, *blocks)


def metric_keys() -> str:
    """The keys of one metric in the list."""
    (_, sentence, rows), *_ = documented(MetricConfig)
    shown = table(("key", "default", "what it is"), [(f"`{name}`", f"`{default}`", said) for name, default, said in rows])
    return f"{sentence}\n\n{shown}"


def telemetry_page() -> str:
    """Every instrument of our own."""
    introduction = (
        "What `otel-eval serve` measures, sent as OTLP metrics at intervals (`sinks.otlp_metrics`), cumulative, with the judged spans as "
        "exemplars. Attributes have few values. Names under `gen_ai.` and `error.type` are standard, others ours. Rates of verdicts are of "
        "`otel_eval.selected_by` = `estimate` alone: triage seeks failures."
    )
    rows = [
        (f"`{i.name}`", i.kind, f"`{i.unit}`", i.sentence, "<br>".join(f"`{name}`" for name in i.attributes)) for i in INSTRUMENTS.values()
    ]
    shown = table(("instrument", "kind", "unit", "what it is", "attributes"), rows)
    bounds = [f"`{i.name}`: {', '.join(f'{b:g}' for b in i.bounds)}" for i in INSTRUMENTS.values() if i.bounds]
    return page("Own telemetry", introduction, shown, "## Bounds of histograms\n\n" + "\n\n".join(bounds))


PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "config.md": config_page,
    "config.schema.json": schema_text,
    "conversation.md": conversation_page,
    "conversation.schema.json": schema_file,
    "dialects.md": dialects_page,
    "metrics.md": metrics_page,
    "outcomes.md": outcomes_page,
    "telemetry.md": telemetry_page,
}


def pages() -> dict[str, str]:
    """The text of each document made from code, by file name."""
    return {name: make() for name, make in PAGES.items()}


def stale_pages() -> list[str]:
    """The names of the documents that do not say what the code says."""
    return [name for name, text in pages().items() if not (DOCS / name).exists() or (DOCS / name).read_text() != text]


if __name__ == "__main__":
    stale = stale_pages()
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"stale: {', '.join(f'docs/{name}' for name in stale)}: run `make docs`")
    else:
        made = pages()
        for name in stale:
            (DOCS / name).write_text(made[name])
            print(f"docs/{name}")
