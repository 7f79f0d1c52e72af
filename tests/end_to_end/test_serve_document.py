"""docs/serve.md as an operator reads it: every command is run, and prints what stands under it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.fakes.programs import free_port
from tests.fakes.serving import ROOT

PAGE = ROOT / "docs" / "serve.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+\.\d+")
MARK = "== block"


def blocks() -> list[tuple[str, str]]:
    """Commands with what they print."""
    found: list[tuple[str, str]] = []
    for kind, text in _BLOCK.findall(PAGE.read_text()):
        if kind == "sh":
            found.append((text, ""))
        else:
            found[-1] = (found[-1][0], text)
    return found


def script(grpc: int, http: int) -> str:
    """All commands in one shell, on free ports; the first that fails ends it."""
    commands = "".join(f"echo '{MARK}'\n{text}" for text, _ in blocks())
    return f"set -euo pipefail\nset -m\n{commands}".replace("localhost:4318", f"localhost:{http}").replace(
        "localhost:4317", f"localhost:{grpc}"
    )


def same(text: str) -> str:
    """A text without what differs from run to run."""
    return _VARYING.sub("#", text.strip())


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    """In an empty folder beside the examples all commands succeed, one after the other, and print the lines that stand under them."""
    if shutil.which("curl") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("curl is not installed: apt-get install curl")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    grpc, http = free_port(), free_port()
    path = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    ports = {"OTEL_EVAL__RECEIVE__GRPC__ENDPOINT": f"localhost:{grpc}", "OTEL_EVAL__RECEIVE__HTTP__ENDPOINT": f"localhost:{http}"}
    environment = {"PATH": path, "HOME": str(tmp_path), "COLUMNS": "200", "PYTHONPATH": str(ROOT), **ports}
    with (tmp_path / "out").open("w") as out:
        shell = subprocess.Popen(["bash", "-c", script(grpc, http)], cwd=tmp_path, env=environment, stdout=out, stderr=out)
        try:
            code = shell.wait(180)
        finally:
            subprocess.run(["bash", "-c", "kill $(cat otel-eval.db.lock)"], cwd=tmp_path, capture_output=True, check=False)
            shell.kill()
            shell.wait()
    printed = (tmp_path / "out").read_text()
    assert code == 0, printed[-3000:]
    parts = printed.replace(f":{http}", ":4318").replace(f":{grpc}", ":4317").split(MARK + "\n")[1:]
    for (commands, expected), part in zip(blocks(), parts, strict=True):
        shown = same(part)
        missing = [line for line in expected.splitlines() if same(line) not in shown]
        assert missing == [], f"{commands}\nprints\n{part}"
