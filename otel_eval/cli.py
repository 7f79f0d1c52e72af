"""The command line: options and exit codes; each command's work stands in `otel_eval/service/commands/NAME.py`.

A command's module is imported only when the command is invoked, so that `otel-eval --help` needs click and nothing else.
Its one function is `run(**options) -> int`; the options are those declared here, the number is the exit code.
"""

import errno
import importlib
import io
import math
import os
import sys
from pathlib import Path
from typing import Any

import click

from otel_eval.errors import OtelEvalError

MISSED = 1
"""A threshold was not met, or there was nothing to work on."""
UNUSABLE = 2
"""The input, an option or the configuration cannot be used; click's own code for wrong usage."""
NOTHING_SCORED = 3
"""There was something to score, and no metric has a value because judge or metric failed everywhere."""
INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader of our output went away, as in `otel-eval convert FILE | head`."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What the system says when nothing more can be written."""

EXIT_CODES = f"""\b
Exit codes:
  0    done
  {MISSED}    a threshold was not met, or there was no conversation to work on
  {UNUSABLE}    the input, an option or the configuration cannot be used
  {NOTHING_SCORED}    nothing was scored: judge or metric failed on everything
  {INTERRUPTED}  interrupted
  {PIPE_CLOSED}  the reader of the output went away
"""


class Unusable(click.ClickException):
    """An error of ours as one sentence on standard error."""

    exit_code = UNUSABLE


class CommandLine(click.Group):
    """A group that turns what goes wrong under it into exit codes."""

    def invoke(self, ctx: click.Context) -> None:
        """Run the command and leave with the exit code it returns."""
        show_what_can_be_shown()
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except OtelEvalError as error:
            raise Unusable(str(error)) from error
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            discard_stdout()
            ctx.exit(PIPE_CLOSED)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            discard_stdout()
            raise Unusable(f"the output cannot be written: {error.strerror}") from error
        ctx.exit(code or 0)


def show_what_can_be_shown() -> None:
    """On a terminal that has not all characters the others are shown as a question mark, instead of ending the run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def discard_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter's last flush does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def run_command(command: str, /, **options: Any) -> int:
    """The exit code of `otel_eval.service.commands.COMMAND.run`, imported here and not before."""
    module = importlib.import_module(f"otel_eval.service.commands.{command}")
    code: int = module.run(**options)
    return code


def names_from_text(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The names of all texts, each split at its commas: ("a, b", "c") gives ("a", "b", "c"). A text without any is wrong usage."""
    split = [[name.strip() for name in text.split(",") if name.strip()] for text in texts]
    if not all(split):
        raise click.BadParameter("expected names, got an empty text")
    return tuple(name for names in split for name in names)


class Words(click.types.StringParamType):
    """A text with something in it: a variable of a script that is not set is a mistake, and not the same as leaving the option away."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).strip():
            self.fail("expected something, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number, and neither NaN nor Infinity, which no limit could be held against."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


class File(click.Path):
    """A path with something in it."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value).strip():
            self.fail("expected a path, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


WORDS = Words()


PATHS = click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=File(exists=True, allow_dash=True, path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
JOIN_BY_HISTORY = click.option(
    "--join-by-history",
    is_flag=True,
    help="Join traces without a conversation id where one repeats the messages of another.",
)


@click.group(cls=CommandLine, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="otel-eval", message="%(prog)s %(version)s")
def main() -> None:
    """Score live LLM agents from the OpenTelemetry traces they already emit."""


@main.command()
@click.option(
    "--format",
    type=click.Choice(["messages", "json", "openai", "ragas", "adk"]),
    default="messages",
    show_default=True,
    help="messages: for reading; json: our own schema; openai: chat messages; ragas: multi-turn samples; adk: invocations.",
)
@JOIN_BY_HISTORY
@PATHS
def convert(**options: Any) -> int:
    """Write the conversations of trace files in another form.

    A PATH is a file of traces, a folder of such files, or `-` for standard input.
    """
    return run_command("convert", **options)


@main.command()
@AS_JSON
@PATHS
def doctor(**options: Any) -> int:
    """Say what can be read from trace files, what is missing, and which switch brings it.

    A PATH is a file of traces, a folder of such files, or `-` for standard input.
    """
    return run_command("doctor", **options)


@main.command()
@AS_JSON
def dialects(**options: Any) -> int:
    """List the instrumentations whose spans are understood."""
    return run_command("dialects", **options)


@main.command()
@click.option(
    "--metric",
    "metrics",
    metavar="NAME",
    type=WORDS,
    multiple=True,
    help="A metric to run, `NAME:parameter=value` with parameters, or `module:function`; may be repeated. Without it: all that apply.",
)
@click.option(
    "--topics",
    metavar="A,B",
    type=WORDS,
    multiple=True,
    callback=names_from_text,
    help="Topics the agent is meant to keep to; may be repeated.",
)
@click.option(
    "--check",
    "checks",
    metavar="NAME=QUESTION",
    type=WORDS,
    multiple=True,
    help="A yes/no question on the answer alone, or a JSON Lines file of them; may be repeated.",
)
@click.option(
    "--eval-config",
    metavar="FILE.json",
    type=File(exists=True, dir_okay=False, path_type=Path),
    help="Metrics from an EvalConfig of Google's ADK.",
)
@click.option("--compat", type=click.Choice(["ragas", "ragas-legacy", "adk"]), help="The numbers of that library, with its oddities.")
@click.option(
    "--judge",
    metavar="JUDGE",
    type=WORDS,
    help=(
        "heuristic: built in, no network; openai: any OpenAI-compatible endpoint; local:PATH: a GGUF file, served in this process; or a "
        "plug-in. Without it: openai if a model is named, else heuristic."
    ),
)
@click.option("--judge-model", metavar="MODEL", type=WORDS, help="The model that judges. The key is read from OPENAI_API_KEY.")
@click.option(
    "--first-judge",
    metavar="KIND:MODEL",
    type=WORDS,
    help="A cheap judge at the same endpoint that is asked first: decisions:MODEL or openai:MODEL; doubts and failures go on.",
)
@click.option(
    "--samples", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="Opinions asked for; majority counts."
)
@click.option("--base-url", metavar="URL", type=WORDS, help="The judge's endpoint; without it OPENAI_BASE_URL, else OpenAI's.")
@click.option("--max-tokens", metavar="N", type=click.IntRange(min=1), help="Most tokens that judging may take.")
@click.option("--max-usd", metavar="USD", type=Number(min=0), help="Most that judging may cost; needs --price.")
@click.option("--price", metavar="IN/OUT", type=WORDS, help="USD for a million tokens of the judge, in and out (and cached): 0.15/0.60.")
@click.option("--concurrency", metavar="N", type=click.IntRange(min=1), default=16, show_default=True, help="Conversations at a time.")
@click.option("--format", type=click.Choice(["table", "jsonl"]), default="table", show_default=True, help="How results are written.")
@click.option(
    "--out",
    metavar="FILE.jsonl",
    type=File(dir_okay=False, path_type=Path),
    help="Also append the results to a file; run again, it goes on after an interruption without judging twice.",
)
@click.option("--otlp", "otlp_endpoint", metavar="ENDPOINT", type=WORDS, help="Also send the results as OTLP events to this endpoint.")
@click.option("--junit", metavar="FILE.xml", type=File(dir_okay=False, path_type=Path), help="Also write JUnit XML.")
@click.option("--markdown", metavar="FILE.md", type=File(dir_okay=False, path_type=Path), help="Also write a summary in Markdown.")
@click.option(
    "--fail-under",
    metavar="METRIC=VALUE",
    type=WORDS,
    multiple=True,
    help="Exit code 1 if the mean of a metric is lower; may be repeated. What failed is not in the mean: see --max-failed.",
)
@click.option(
    "--max-failed",
    metavar="SHARE",
    type=Number(min=0, max=1),
    help="Exit code 1 if a greater share of a metric's results failed, of those that it applies to: 0 for none.",
)
@click.option(
    "--dataset",
    "--references",
    "references",
    metavar="FILE.jsonl",
    type=File(exists=True, dir_okay=False, path_type=Path),
    help="What conversations are held against, one JSON object a line.",
)
@click.option(
    "--task-key",
    metavar="NAME",
    type=WORDS,
    help="Span attribute, or field beside a conversation in JSON, that names its task, for `otel-eval passk`.",
)
@click.option(
    "--config",
    metavar="FILE",
    type=File(exists=True, dir_okay=False, path_type=Path),
    help="Metrics, judge, topics and references from a configuration; options go before it.",
)
@JOIN_BY_HISTORY
@PATHS
def score(**options: Any) -> int:
    """Score the conversations of trace files.

    A PATH is a file of traces, a folder of such files, or `-` for standard input.
    """
    return run_command("score", **options)


@main.command()
@click.option(
    "--metric", "metrics", metavar="NAME", type=WORDS, multiple=True, help="The metric whose results are counted; may be repeated."
)
@click.option(
    "-k",
    "k",
    metavar="K",
    type=click.IntRange(min=1),
    multiple=True,
    help="How many trials must all pass; may be repeated. Without it: 1, 2, … up to the smallest number of trials of a task, at most 10.",
)
@click.option(
    "--passed-from",
    metavar="VALUE",
    type=Number(),
    default=1.0 - 1e-6,
    show_default=True,
    help="A trial with this value or more has passed.",
)
@click.option(
    "--task-key", metavar="NAME", type=WORDS, help="The member of a line that is the same for all trials of a task, instead of `task`."
)
@click.option("--leave-out-short", is_flag=True, help="Leave out tasks with fewer than K trials instead of refusing.")
@click.option("--by-task", is_flag=True, help="Also show n and c of every task.")
@AS_JSON
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=File(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
)
def passk(**options: Any) -> int:
    """Say how likely it is that K trials of a task all pass (pass^k).

    A PATH is a file that `otel-eval score --out` wrote, of conversations with a task; a file of trials, one a line: `task`, and `passed`,
    `value` or `reward`; a file of counts, `task`, `n` and `c`; or `-` for standard input. The value is the mean over tasks of
    C(c, k) / C(n, k), n trials of which c passed, with a 95 % interval by bootstrap over tasks. Trials without a verdict (a judge that
    failed, a metric that was skipped, a value of null) are no failed ones: they are counted apart. Lines of different files are different
    trials.
    """
    return run_command("passk", **options)


CONFIG = click.option(
    "--config",
    metavar="FILE",
    type=File(dir_okay=False, path_type=Path),
    help="The configuration; without it OTEL_EVAL_CONFIG, else otel-eval.yaml if there is one, else defaults.",
)


@main.command()
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.argument("path", required=False, default="otel-eval.yaml", type=File(dir_okay=False, path_type=Path))
def init(**options: Any) -> int:
    """Write a commented configuration to PATH (otel-eval.yaml)."""
    return run_command("init", **options)


SERVER = click.option(
    "--server",
    metavar="URL",
    type=WORDS,
    help="A running server, such as http://localhost:4318; token and TLS files by environment: docs/serve.md.",
)
STORE = click.option(
    "--store",
    metavar="FILE",
    type=File(exists=True, dir_okay=False, path_type=Path),
    help="The store's file; without it the one of the configuration.",
)


@main.command()
@CONFIG
@click.option(
    "--inline",
    metavar="ENDPOINT",
    type=WORDS,
    help="Forward everything to this OTLP/HTTP endpoint, with result events added to judged spans.",
)
def serve(**options: Any) -> int:
    """Score live traffic: take OTLP, score what is complete, send results on.

    Works without any configuration; `otel-eval config check` says what it comes to. SIGTERM ends it without losing anything, SIGHUP
    reads the configuration again as far as that is safe.
    """
    return run_command("serve", **options)


@main.command()
@CONFIG
@click.option("--kafka", "brokers", metavar="BROKERS", help="HOST:PORT,HOST:PORT of Kafka; without it `kafka.brokers`.")
@click.option(
    "--status",
    metavar="HOST:PORT",
    help="Where /healthz, /readyz, /status and /explain/ID answer; without it `kafka.status`, else nowhere.",
)
def worker(**options: Any) -> int:
    """Score what a Collector writes to Kafka, as one of many workers of a group.

    Start as many as there are partitions, at most; a worker that dies loses nothing: others take over. Needs the extra `kafka`. SIGTERM
    ends it: what is being judged is finished, the rest is another's.
    """
    return run_command("worker", **options)


@main.command()
@CONFIG
@SERVER
@STORE
@AS_JSON
@click.argument("id", type=WORDS)
def explain(**options: Any) -> int:
    """Say what became of the trace, conversation or result ID, and why.

    Asks a running server if one is named, else reads the store's file; that works while its worker runs, too.
    """
    return run_command("explain", **options)


@main.command()
@CONFIG
@SERVER
@click.option("--once", is_flag=True, help="Show it once, as it stands.")
def top(**options: Any) -> int:
    """Watch a running server: rates, outcomes, queues, cost, recent conversations."""
    return run_command("top", **options)


@main.group()
def store() -> None:
    """The store's file: what is in it, out of it, smaller."""


@store.command("info")
@CONFIG
@STORE
@AS_JSON
def store_info(**options: Any) -> int:
    """Count what is in the store."""
    return run_command("store", action="info", **options)


@store.command("vacuum")
@CONFIG
@STORE
def store_vacuum(**options: Any) -> int:
    """Give free room back to the disk; the worker must not run."""
    return run_command("store", action="vacuum", **options)


@store.command("export")
@CONFIG
@STORE
@click.option(
    "--requests", metavar="FOLDER", type=File(file_okay=False, path_type=Path), help="Also write the kept requests as files there."
)
def store_export(**options: Any) -> int:
    """Write outcomes, results and deliveries as JSON lines."""
    return run_command("store", action="export", **options)


@store.command("revive")
@CONFIG
@STORE
@click.argument("sink", type=WORDS)
def store_revive(**options: Any) -> int:
    """Send once more what SINK refused for good; the worker must not run."""
    return run_command("store", action="revive", **options)


@main.group()
def config() -> None:
    """The configuration of `serve`: what it comes to, what it may be."""


@config.command("check")
@CONFIG
def check_config(**options: Any) -> int:
    """Say what the configuration comes to; fail where it cannot work."""
    return run_command("config", action="check", **options)


@config.command("show")
@CONFIG
def show_config(**options: Any) -> int:
    """Show every value and where it is from."""
    return run_command("config", action="show", **options)


@config.command("schema")
def config_schema(**options: Any) -> int:
    """Write the JSON Schema of the configuration, for editors."""
    return run_command("config", action="schema", **options)


@main.group()
def metrics() -> None:
    """The metrics: what each says, needs and comes from."""


@metrics.command("list")
@AS_JSON
def list_metrics(**options: Any) -> int:
    """List every metric with its sentence."""
    return run_command("metrics", name=None, **options)


@metrics.command("show")
@AS_JSON
@click.argument("name", type=WORDS)
def show_metric(**options: Any) -> int:
    """Show all that is known of the metric NAME, and what it asks a judge."""
    return run_command("metrics", **options)
