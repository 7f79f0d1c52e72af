"""A worker from its configuration: what cannot work is told before the group is joined, in one sentence that says what to do."""

from importlib import util
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError
from otel_eval.kafka.settings import KafkaSettings, admin_properties, consumer_properties, producer_properties
from otel_eval.service.commands import worker
from otel_eval.service.config import load_config
from otel_eval.service.config.sections import KafkaConfig
from otel_eval.service.worker.building import memory_store, properties_from_text, settings_from_config
from otel_eval.service.worker.running import with_options


def test_without_brokers_it_says_where_they_are_named() -> None:
    """No broker is guessed."""
    with pytest.raises(ConfigError, match=r"`--kafka` or `kafka.brokers`"):
        settings_from_config(KafkaConfig())


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library is no part of the core."""
    monkeypatch.setattr(worker, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"otel-eval\[kafka\]"):
        worker.run(brokers="127.0.0.1:1")
    assert util.find_spec("confluent_kafka") is not None


def test_the_command_line_goes_before_the_configuration() -> None:
    """What `--kafka` and `--status` name takes the place of what the file says; without them the file holds."""
    config = load_config(None, {"OTEL_EVAL__KAFKA__BROKERS": "a:1", "OTEL_EVAL__KAFKA__STATUS": "localhost:4319"}).config
    assert with_options(config, "b:2", None).kafka.brokers == "b:2"
    assert with_options(config, None, None).kafka.brokers == "a:1"
    assert with_options(config, "b:2", None).kafka.status == "localhost:4319"


def test_properties_of_a_file_reach_the_client_and_no_log(tmp_path: Path) -> None:
    """Secrets come from a file; they are in what the client is told, and not in what the settings look like when printed."""
    file = tmp_path / "client.properties"
    file.write_text("# how to get in\nsecurity.protocol = SASL_SSL\nsasl.password=to=ken\n\n")
    s = settings_from_config(KafkaConfig(brokers="a:1", client={"client.id": "me"}, client_file=str(file)))
    for properties in (consumer_properties(s), producer_properties(s), admin_properties(s)):
        assert properties["sasl.password"] == "to=ken"
        assert properties["security.protocol"] == "SASL_SSL"
        assert properties["client.id"] == "me"
    assert "to=ken" not in repr(s)


def test_what_the_group_rests_on_cannot_be_changed() -> None:
    """Other properties are the operator's; assignor, group, committing and delivery are not."""
    changed = {
        "partition.assignment.strategy": "roundrobin",
        "enable.auto.commit": "true",
        "message.timeout.ms": "1",
        "fetch.wait.max.ms": "7",
    }
    s = KafkaSettings(brokers="a:1", client={**changed, "message.timeout.ms": "1", "fetch.wait.max.ms": "7"})
    assert consumer_properties(s)["partition.assignment.strategy"] == "range"
    assert consumer_properties(s)["enable.auto.commit"] is False
    assert consumer_properties(s)["fetch.wait.max.ms"] == "7"
    assert producer_properties(s)["message.timeout.ms"] == 0
    assert "fetch.wait.max.ms" not in producer_properties(s)


@pytest.mark.parametrize("text", ["sasl.password", "=x", "a=1\nsecret words"])
def test_a_line_that_is_no_property_is_told_without_its_words(text: str) -> None:
    """The error counts the entry and does not repeat it: it may be a secret."""
    with pytest.raises(ConfigError, match=r"entry \d of `kafka.client_file`") as told:
        properties_from_text(text)
    assert "secret" not in str(told.value)
    assert "password" not in str(told.value)


def test_what_is_settled_is_kept_no_longer_than_it_may_change() -> None:
    """The store is in memory: outcomes are not kept for two weeks there, whatever `store.keep` says, but as long as late spans count."""
    environ: dict[str, Any] = {"OTEL_EVAL__COMPLETION__LATE_WINDOW": "10m"}
    with memory_store(load_config(None, environ).config) as store:
        assert store.path is None
        assert store.limits.keep_s == 600.0
