"""What deploy/Dockerfile does, done in a folder, where no container engine is: python scripts/image.py FOLDER.

Every path of the image lies in the folder: /opt/otel-eval is FOLDER/opt/otel-eval. All stages share it, so that what one builds lies where
the next expects it. The base image is the Python that runs this. What only root may do (chown) is left out for others.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
_CONTINUED = re.compile(r"\\\n\s*")
_PATH = re.compile(r"""(?<![^\s"'=\[,])/(?=(?:opt|data|etc|source)\b)""")
"""The start of a path in the image."""


@dataclass(slots=True, kw_only=True)
class Image:
    """What the steps made, and what a container of it would run."""

    folder: Path
    workdir: Path
    environment: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    user: str = "root"
    volumes: list[Path] = field(default_factory=list)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """(INSTRUCTION, value) of each, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in _CONTINUED.sub(" ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, value = line.strip().partition(" ")
            yield name.upper(), value.strip()


def image_from_dockerfile(text: str, folder: Path) -> Image:
    """Take the steps of a Dockerfile. SystemExit with the step that failed or is not known here."""
    image = Image(folder=folder, workdir=folder)
    for name, value in instructions(text):
        step = _STEPS.get(name)
        if step is None:
            raise SystemExit(f"image: {name} is not known here; known are {', '.join(_STEPS)}")
        step(image, _PATH.sub(f"{folder}/", value))
    return image


def _from(image: Image, _: str) -> None:
    image.environment, image.workdir = {}, image.folder


def _workdir(image: Image, value: str) -> None:
    image.workdir = image.workdir / value
    image.workdir.mkdir(parents=True, exist_ok=True)


def _copy(image: Image, value: str) -> None:
    words = shlex.split(value)
    if words[0].startswith("--from="):
        if not Path(words[1]).exists():
            raise SystemExit(f"image: COPY {value}: no stage has made it")
        return
    *sources, target = words
    for source in sources:
        _copy_one(ROOT / source, image.workdir / target, into=target.endswith("/"))


def _copy_one(source: Path, target: Path, *, into: bool) -> None:
    target = target / source.name if into else target
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target)


def _run(image: Image, value: str) -> None:
    ended = subprocess.run(["sh", "-euc", value], cwd=image.workdir, env=environment(image), check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"image: RUN {value}\n{ended.stdout}{ended.stderr}")


def environment(image: Image, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a process in the image sees, and of this machine only how packages are fetched."""
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy") or name.startswith(("PIP_", "SSL_"))}
    path = [str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"]
    if os.geteuid():
        path.insert(0, str(_without_root(image.folder)))
    return {**kept, "PATH": ":".join(path), "HOME": "/nonexistent", **image.environment, **(more or {})}


def _without_root(folder: Path) -> Path:
    shims = folder / ".shims"
    shims.mkdir(exist_ok=True)
    (shims / "chown").write_text("#!/bin/sh\n")
    (shims / "chown").chmod(0o755)
    return shims


def _environment(image: Image, value: str) -> None:
    image.environment.update(word.split("=", 1) for word in shlex.split(value))


def _health(image: Image, value: str) -> None:
    image.health = json.loads(value.partition("CMD ")[2])


def _entrypoint(image: Image, value: str) -> None:
    image.entrypoint = json.loads(value)


def _command(image: Image, value: str) -> None:
    image.command = json.loads(value)


def _user(image: Image, value: str) -> None:
    image.user = value


def _volume(image: Image, value: str) -> None:
    image.volumes.append(Path(value))


def _nothing(_: Image, __: str) -> None:
    """It only says something to engines."""


_STEPS = {
    "FROM": _from,
    "ARG": _environment,
    "ENV": _environment,
    "WORKDIR": _workdir,
    "COPY": _copy,
    "RUN": _run,
    "USER": _user,
    "VOLUME": _volume,
    "EXPOSE": _nothing,
    "HEALTHCHECK": _health,
    "ENTRYPOINT": _entrypoint,
    "CMD": _command,
}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(f"usage: python {sys.argv[0]} FOLDER")
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    image = image_from_dockerfile((ROOT / "deploy" / "Dockerfile").read_text(), folder)
    print("environment ", shlex.join(f"{name}={value}" for name, value in image.environment.items()))
    print("workdir     ", image.workdir)
    print("runs        ", shlex.join([*image.entrypoint, *image.command]))
    print("health check", shlex.join(image.health))


if __name__ == "__main__":
    main()
