"""Every example does what its page shows: it is run as a reader would run it, and what it prints is what stands there.

Environments of frameworks are made once and kept (`examples/run.py`); the scores are those of built-in rules, so that they are the same in
every run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted({file.parent.name for kind in ("main.py", "main.mjs", "run.sh") for file in EXAMPLES.glob(f"*/{kind}")})
MOST_LINES = 60
"""Of what a reader has to read of an example."""
MISSING = 3
"""The exit code where this machine lacks something: Node.js, the Collector, a way to the package registry."""


def printed_in(page: Path) -> str:
    """The output that a page shows."""
    (block,) = re.findall(r"```text\n(.*?)```", page.read_text(), re.DOTALL)
    return str(block)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_its_page_shows(name: str) -> None:
    """The words, the scores and the reasons beside them."""
    ended = subprocess.run([sys.executable, EXAMPLES / "run.py", name], capture_output=True, text=True, timeout=600, check=False)
    if ended.returncode == MISSING and not os.environ.get("CI"):
        pytest.skip(ended.stderr.splitlines()[-1])
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.rstrip() == printed_in(EXAMPLES / name / "README.md").rstrip()


def test_every_example_is_listed() -> None:
    """The overview has each of them, and nothing else."""
    listed = re.findall(r"^\| \[(\w+)\]\(\1\)", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/main.*")), ids=lambda file: file.parent.name)
def test_an_example_is_short(file: Path) -> None:
    """It is read on one screen, blank lines aside."""
    assert len([line for line in file.read_text().splitlines() if line.strip()]) <= MOST_LINES


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/requirements.txt")), ids=lambda file: file.parent.name)
def test_versions_are_pinned(file: Path) -> None:
    """Each distribution of an environment has one version, so that an example works as long as these can be had."""
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith(("#", " "))]
    assert lines
    assert [line for line in lines if not re.match(r"[\w.\-\[\]]+==[\w.+!]+( ;.*)?$", line)] == []


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    """A slip of the pen costs no search."""
    ended = subprocess.run([sys.executable, EXAMPLES / "run.py", "langraph"], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "langgraph" in ended.stderr


def test_a_real_endpoint_is_asked_where_one_is_named() -> None:
    """With --real nothing is started in the model's place: the endpoint of the environment is asked, by the model of the environment."""
    with subprocess.Popen([sys.executable, EXAMPLES / "model" / "server.py"], stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        named = {"OPENAI_BASE_URL": f"{endpoint.stdout.readline().strip()}/v1", "OPENAI_API_KEY": "a", "MODEL": "m"}
        command = [sys.executable, str(EXAMPLES / "run.py"), "--real", "in_process"]
        ended = subprocess.run(command, env={**os.environ, **named}, capture_output=True, text=True, timeout=120, check=False)
        endpoint.terminate()
    assert ended.stdout.rstrip() == printed_in(EXAMPLES / "in_process" / "README.md").rstrip(), ended.stderr


def test_an_example_that_fails_is_told_by_its_exit_code() -> None:
    """An endpoint that nobody answers at is the example's failure, without a trace of the runner's own."""
    nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "a"}
    command = [sys.executable, str(EXAMPLES / "run.py"), "--real", "in_process"]
    ended = subprocess.run(command, env={**os.environ, **nowhere}, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1
    assert ended.stderr.rstrip().endswith("in_process: it ended with 1")
