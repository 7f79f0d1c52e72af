"""A real Kafka broker on loopback, started from what `make kafka` fetched; it can be killed and started again with all it holds."""

import os
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.fakes.programs import free_port
from tests.fakes.serving import ROOT, until

LIMIT_BYTES = 8 * 2**20
_SCRIPT = ROOT / "scripts" / "kafka.sh"
_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
num.partitions=4
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
message.max.bytes={limit}
log.cleaner.enable=false
"""


def jars() -> str:
    """The class path. Tests are skipped without it, with the command; in CI they fail."""
    told = subprocess.run([str(_SCRIPT), "--print"], capture_output=True, text=True, check=True)
    folder = Path(told.stdout.strip())
    if not (folder / ".ready").exists():
        missing = "Apache Kafka is not there: run make kafka"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return f"{folder}/jars/*"


class Broker:
    """The process. Its ports stay the same over a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._jars = folder, jars()
        self._port, controller = free_port(), free_port()
        self._properties = folder / "server.properties"
        self._properties.write_text(_PROPERTIES.format(port=self._port, controller=controller, folder=folder, limit=LIMIT_BYTES))
        self.address = f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        identity = self._java("kafka.tools.StorageTool", "random-uuid").strip().splitlines()[-1]
        self._java("kafka.tools.StorageTool", "format", "-t", identity, "-c", str(self._properties))
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _java(self, *arguments: str) -> str:
        return subprocess.run(self._command(*arguments), capture_output=True, text=True, check=True, timeout=60).stdout

    def _command(self, *arguments: str) -> list[str]:
        return ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", self._jars, *arguments]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "broker.log").open("a") as log:
            self.process = subprocess.Popen(self._command("kafka.Kafka", str(self._properties)), stdout=log, stderr=log, cwd=self._folder)
        until(lambda: self.process.poll() is not None or self._answers(), 90, every_s=0.2)
        assert self.process.poll() is None, (self._folder / "broker.log").read_text()[-3000:]

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
            return bool(AdminClient({"bootstrap.servers": self.address}).list_topics(timeout=2).brokers)
        except (OSError, KafkaException):
            return False

    def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        self.process.wait()

    def create(self, topics: Mapping[str, int], **config: str) -> None:
        """Topics with so many partitions."""
        admin = AdminClient({"bootstrap.servers": self.address})
        new = [NewTopic(name, num_partitions=count, replication_factor=1, config=config) for name, count in topics.items()]
        for made in admin.create_topics(new).values():
            made.result(30)
