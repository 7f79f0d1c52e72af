"""The command line's own work: exit codes, one sentence for an error, options as the commands get them."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from otel_eval.cli import INTERRUPTED, PIPE_CLOSED, UNUSABLE, CommandLine, main, names_from_text
from otel_eval.errors import ConfigError

WRITES_MUCH = """
import click
from otel_eval.cli import CommandLine

@click.command()
def much() -> None:
    for _ in range(100_000):
        print("a line of output")

CommandLine(commands=[much])(["much"])
"""


def group_of(action: object) -> CommandLine:
    """A command line with one command, `act`, that returns or raises what it is given."""

    @click.command()
    def act() -> object:
        if isinstance(action, BaseException):
            raise action
        return action

    return CommandLine(commands=[act])


@pytest.mark.parametrize(
    ("action", "code"),
    [(0, 0), (None, 0), (1, 1), (ConfigError("no"), UNUSABLE), (KeyboardInterrupt(), INTERRUPTED)],
)
def test_what_happens_becomes_an_exit_code(action: object, code: int) -> None:
    """A command's return value is the exit code; errors of ours and an interruption have their own."""
    assert CliRunner().invoke(group_of(action), ["act"]).exit_code == code


def test_an_error_is_one_sentence_on_standard_error() -> None:
    """An error of ours is told without a traceback, and not among the results."""
    told = CliRunner().invoke(group_of(ConfigError("rate must be at most 1, not 3")), ["act"])
    assert (told.stdout, told.stderr) == ("", "Error: rate must be at most 1, not 3\n")


def test_a_fault_of_ours_is_not_dressed_up() -> None:
    """An exception that is none of ours keeps its traceback: it is a bug to report."""
    assert isinstance(CliRunner().invoke(group_of(ZeroDivisionError()), ["act"]).exception, ZeroDivisionError)


def test_a_reader_that_leaves_is_no_error() -> None:
    """`otel-eval … | head` ends quietly, with the code of SIGPIPE."""
    reading, writing = os.pipe()
    with subprocess.Popen([sys.executable, "-c", WRITES_MUCH], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait()) == (b"", PIPE_CLOSED)


def test_a_full_disk_is_an_error() -> None:
    """Output that cannot be written is not taken for a reader that left."""
    full = OSError(errno.ENOSPC, "No space left on device")
    assert CliRunner().invoke(group_of(full), ["act"]).exit_code not in (0, PIPE_CLOSED)


@pytest.mark.parametrize("command", ["convert", "doctor", "score"])
def test_a_path_that_is_not_there_is_wrong_usage(command: str, tmp_path: Path) -> None:
    """A mistyped path is told before any work is done."""
    told = CliRunner().invoke(main, [command, str(tmp_path / "nothing.json")])
    assert told.exit_code == UNUSABLE
    assert "does not exist" in told.stderr


def test_topics_are_split_at_commas() -> None:
    """`--topics "a, b" --topics c` gives three topics."""
    context = click.Context(main)
    assert names_from_text(context, click.Option(["--topics"]), ("a, b", "c,")) == ("a", "b", "c")


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "--otlp", ""),
        ("score", "--topics", ""),
        ("score", "--topics", " , "),
        ("score", "--judge-model", " "),
        ("score", "--metric", ""),
        ("score", "--fail-under", ""),
        ("score", "--out", ""),
        ("score", "--junit", " "),
        ("score", "--config", ""),
        ("passk", "--task-key", ""),
        ("serve", "--inline", ""),
        ("explain", ""),
        ("metrics", "show", ""),
        ("init", ""),
    ],
    ids=" ".join,
)
def test_an_empty_value_is_wrong_usage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """A variable of a script that is not set is told, and not taken for an option that was left away."""
    file = tmp_path / "traces.json"
    file.write_text("{}")
    told = CliRunner().invoke(main, [*arguments, *([str(file)] if arguments[0] in ("score", "passk") else [])])
    assert (told.exit_code, told.stdout) == (UNUSABLE, "")
    assert "empty text" in told.stderr
