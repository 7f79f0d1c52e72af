"""Environments of examples: made once for each change of what they need, and kept."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path


class MissingError(Exception):
    """Something that an example needs is not on this machine."""


def command_of(folder: Path) -> list[str]:
    """What starts an example, with what it needs installed. MissingError where that cannot be."""
    if (folder / "package.json").exists():
        return [program("node"), str(_node(folder) / "main.mjs")]
    if (folder / "main.py").exists():
        return [str(_python(folder)), "main.py"]
    return ["sh", "-eu", "run.sh"]


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingError(f"{name} is not on the PATH: install it, and run this again")
    return found


def cache() -> Path:
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-eval"
    return Path(os.environ.get("OTEL_EVAL_CACHE") or default)


def _place(folder: Path, *files: str) -> Path:
    """Where the environment of these requirements lies or will lie, for this Python."""
    needs = b"".join((folder / file).read_bytes() for file in files)
    known = hashlib.sha256(needs + sys.version.encode()).hexdigest()[:16]
    return cache() / "examples" / f"{folder.name}-{known}"


def _python(folder: Path) -> Path:
    """A Python with the example's requirements; the one that runs this where it has none."""
    if not (folder / "requirements.txt").exists():
        return Path(sys.executable)
    place = _place(folder, "requirements.txt")
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        print(f"making the environment of {folder.name}, once", file=sys.stderr, flush=True)
        shutil.rmtree(place, ignore_errors=True)
        _install(place, python, folder / "requirements.txt")
        (place / "ready").touch()
    return python


def _install(place: Path, python: Path, requirements: Path) -> None:
    """With uv where it is there, which is several times faster; else with pip."""
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is not None:
        subprocess.run([uv, "venv", "--quiet", "--no-config", "--python", sys.executable, str(place)], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        venv.create(place, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--requirement", str(requirements)], check=True)


def _node(folder: Path) -> Path:
    """A copy of the example with its packages: Node.js looks for them beside the program."""
    place = _place(folder, "package.json", "package-lock.json")
    if not (place / "node_modules" / ".package-lock.json").exists():
        print(f"installing the packages of {folder.name}, once", file=sys.stderr, flush=True)
        place.mkdir(parents=True, exist_ok=True)
        for file in ("package.json", "package-lock.json"):
            shutil.copyfile(folder / file, place / file)
        subprocess.run([program("npm"), "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=place, check=True)
    shutil.copyfile(folder / "main.mjs", place / "main.mjs")
    return place
