"""Environments of examples: made once for each change of what they need, and kept."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
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
    return cache() / "environments" / f"{folder.name}-{known}"


def _python(folder: Path) -> Path:
    """A Python with the example's requirements; the one that runs this where it has none."""
    requirements = folder / "requirements.txt"
    if not requirements.exists():
        return Path(sys.executable)
    place = _place(folder, "requirements.txt")
    _make(place, lambda new: _install_python(new, requirements))
    return place / "bin" / "python"


def _make(place: Path, install: Callable[[Path], None]) -> None:
    """Fill a place, whole or not at all: it is made beside, and moved there when it is done."""
    if place.exists():
        return
    print(f"installing what {place.name.rpartition('-')[0]} needs, once", file=sys.stderr, flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        install(new)
        new.rename(place)
    except subprocess.CalledProcessError as error:
        raise MissingError("its packages could not be installed: is the package registry reachable?") from error
    except OSError:
        if not place.exists():  # else another process has been faster
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _install_python(place: Path, requirements: Path) -> None:
    """With uv where it is there, which is several times faster; else with pip."""
    beside, python = Path(sys.executable).parent / "uv", place / "bin" / "python"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is not None:
        subprocess.run([uv, "venv", "--quiet", "--no-config", "--allow-existing", "--python", sys.executable, str(place)], check=True)
        install = [uv, "pip", "install", "--quiet", "--python", str(python)]
    else:
        venv.create(place, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--requirement", str(requirements)], check=True)


def _node(folder: Path) -> Path:
    """A copy of the example with its packages: Node.js looks for them beside the program."""
    place, files = _place(folder, "package.json", "package-lock.json"), ("package.json", "package-lock.json")
    npm = program("npm")

    def install(new: Path) -> None:
        for file in files:
            shutil.copyfile(folder / file, new / file)
        subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=new, check=True)

    _make(place, install)
    shutil.copyfile(folder / "main.mjs", place / "main.mjs")
    return place
