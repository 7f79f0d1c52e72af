"""The image without an engine: the steps of the Dockerfile are taken in a folder, and what they made is started and asked."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.image import ROOT, Image, environment, image_from_dockerfile, instructions
from tests.fakes.serving import until

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Every step, the installation from the package registry among them."""
    return image_from_dockerfile(DOCKERFILE, tmp_path_factory.mktemp("image"))


@pytest.fixture
def here(image: Image) -> dict[str, str]:
    """An environment for a container on loopback, with the volume where the folder has it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "OTEL_EVAL__RECEIVE__HTTP__ENDPOINT": f"127.0.0.1:{port}",
        "OTEL_EVAL__RECEIVE__GRPC__ENDPOINT": "127.0.0.1:0",
        "OTEL_EVAL__STORE__PATH": str(image.volumes[0] / "otel-eval.db"),
        "OTEL_EVAL__STORE__MIN_DISK": "0",
        "OTEL_EVAL_HEALTH_URL": f"http://127.0.0.1:{port}/readyz",
    }
    return environment(image, settings)


@pytest.fixture
def container(image: Image, here: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """The entry point with its default command."""
    process = subprocess.Popen([*image.entrypoint, *image.command], cwd=image.workdir, env=here, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


def check_health(image: Image, env: dict[str, str]) -> int:
    return subprocess.run(image.health, env=env, capture_output=True, timeout=30, check=False).returncode


def test_the_health_check_follows_the_server(image: Image, here: dict[str, str], container: "subprocess.Popen[bytes]") -> None:
    """It fails while nothing answers, passes once requests are taken, and the server ends cleanly at SIGTERM."""
    assert check_health(image, {**here, "OTEL_EVAL_HEALTH_URL": "http://127.0.0.1:9/readyz"}) == 1
    until(lambda: check_health(image, here) == 0, 60)
    container.send_signal(signal.SIGTERM)
    assert container.wait(30) == 0
    assert check_health(image, here) == 1


def test_only_the_volume_is_written_to(image: Image, here: dict[str, str], container: "subprocess.Popen[bytes]") -> None:
    """The root file system may be read-only: a server that has started has made files in the volume and nowhere else."""
    before = files_outside_volumes(image)
    until(lambda: check_health(image, here) == 0, 60)
    assert files_outside_volumes(image) == before
    assert (image.volumes[0] / "otel-eval.db").exists()
    assert not Path(here["HOME"]).exists()


def files_outside_volumes(image: Image) -> dict[Path, int]:
    """Files and when they were changed."""
    found = (Path(folder) / name for folder, _, names in os.walk(image.folder) for name in names)
    return {file: file.lstat().st_mtime_ns for file in found if not any(file.is_relative_to(volume) for volume in image.volumes)}


def test_other_commands_run_too(image: Image, here: dict[str, str]) -> None:
    """`docker run … otel-eval score .` scores what lies in the working folder."""
    ended = subprocess.run(
        [*image.entrypoint, "score", str(ROOT / "examples" / "traces")], env=here, capture_output=True, text=True, check=True
    )
    assert "agent_goal_accuracy: mean" in ended.stdout + ended.stderr


def test_the_extras_of_the_image_are_installed(image: Image, here: dict[str, str]) -> None:
    """The same image is a worker on Kafka and reads what is packed with zstd."""
    python = image.folder / "opt" / "otel-eval" / "bin" / "python"
    subprocess.run([python, "-c", "import confluent_kafka, zstandard"], env=here, check=True)


def test_the_image_is_not_root(image: Image) -> None:
    """It runs as a number that a cluster can tell from root."""
    user, _, group = image.user.partition(":")
    assert int(user) > 0
    assert int(group) > 0


def test_the_context_holds_what_is_copied() -> None:
    """What Dockerfile.dockerignore lets through is all that COPY asks for."""
    allowed = [line[1:] for line in (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [value.split()[:-1] for name, value in instructions(DOCKERFILE) if name == "COPY" and not value.startswith("--from")]
    asked = [source for sources in copied for source in sources]
    assert sorted(allowed) == sorted(asked)
    assert all((ROOT / source).exists() for source in asked)


def test_a_step_that_is_not_known_is_said(tmp_path: Path) -> None:
    """The script that stands in for an engine stops at what it does not know, and at what fails."""
    with pytest.raises(SystemExit, match="ONBUILD is not known"):
        image_from_dockerfile("FROM python\nONBUILD RUN true", tmp_path)
    with pytest.raises(SystemExit, match="out of order"):
        image_from_dockerfile("FROM python\nRUN echo out of order; \\\n    exit 3", tmp_path)
