"""`loadbalancing.yaml`: a trace and its logs on one replica; when replicas come and go, what may have been cut in two is never scored."""

import os
import sqlite3
import subprocess
import time
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from otel_eval.model import Span
from tests.fakes.bench import otlp_json
from tests.fakes.collector import CONFIGURATIONS, Collector
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Server, settled, until
from tests.fakes.spans import BASE, SECOND, agent, chat, says, user
from tests.fakes.traffic import arrived, logs_at, logs_sent, of_corpus, requests_of, spans_at, spans_sent

NAME = "replicas.test"
MANY = 40


def replica(folder: Path, endpoint: str, **settings: Any) -> Server:
    folder.mkdir()
    return Server(folder, receive__grpc__endpoint=endpoint, **{"metrics": ["turn_count"], **settings})


def test_a_trace_and_its_logs_are_on_one_replica(tmp_path: Path) -> None:
    """Both replicas get traces, no trace is on both, none is in pieces, and together they have every span once; so has the backend."""
    endpoints, requests = [f"127.0.0.1:{free_port()}" for _ in range(2)], requests_of(of_corpus())
    environment = {f"OTEL_EVAL_REPLICA_{i}": endpoint for i, endpoint in enumerate(endpoints)}
    expected = spans_sent(requests)
    with replica(tmp_path / "0", endpoints[0]) as zero, replica(tmp_path / "1", endpoints[1]) as one, OtlpReceiver() as backend:
        with Collector("loadbalancing.yaml", tmp_path, BACKEND_OTLP_ENDPOINT=backend.url, **environment) as collector:
            for sent in requests:
                assert collector.post(sent.signal, sent.body, json_body=sent.is_json) == 200
            until(lambda: sum(spans for spans, _ in arrived(zero, one).values()) == sum(expected.values()), 40)
            until(lambda: len(spans_at(backend)) == len(expected) and logs_at(backend) == logs_sent(requests), 20)
        until(lambda: settled(zero) and settled(one), 60)
        outcomes = zero.outcomes("trace").keys() | one.outcomes("trace").keys()
    assert arrived(zero)
    assert arrived(one)
    assert not arrived(zero).keys() & arrived(one).keys()
    assert "fragment" not in outcomes


def with_names(hosts: Path) -> list[str]:
    """Words before a command that make it take names from a file that can be changed while it runs."""
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)]


def names_can_be_changed(hosts: Path) -> bool:
    return subprocess.run([*with_names(hosts), "true"], capture_output=True, check=False).returncode == 0


def halves(group: str, at_s: float) -> tuple[list[Span], list[Span]]:
    """Traces in two parts, the second of which looks whole: first a model call, then another one and the root."""
    first: list[Span] = []
    second: list[Span] = []
    for number in range(MANY):
        trace = int(sha256(f"{group} {number}".encode()).hexdigest()[:32], 16)
        moved = [
            replace(span, start_ns=span.start_ns + round(at_s * SECOND) - BASE, end_ns=span.end_ns + round(at_s * SECOND) - BASE)
            for span in (
                chat(1, [user("Hi")], says("Hello"), trace=trace, parent=9, start=0, end=1),
                chat(2, [user("Hi"), says("Hello"), user("Bye")], says("Goodbye"), trace=trace, parent=9, start=1, end=2),
                agent(9, "clerk", trace=trace, start=0, end=3),
            )
            if span.start_ns is not None and span.end_ns is not None
        ]
        first.append(moved[0])
        second += moved[1:]
    return first, second


def ids_of(spans: Iterable[Span]) -> set[str]:
    return {span.trace_id for span in spans}


def by_outcome(server: Server, traces: set[str]) -> dict[str, set[str]]:
    """Those of the traces that are at a replica, by what became of them; `pending` while nothing did."""
    with closing(sqlite3.connect(f"file:{server.settings['store__path']}?mode=ro", uri=True)) as db:
        known = dict(db.execute("SELECT key, outcome || ' ' || reason FROM outcomes WHERE kind = 'trace'").fetchall())
    found: dict[str, set[str]] = {}
    for trace in arrived(server).keys() & traces:
        found.setdefault(known.get(trace, "pending").strip(), set()).add(trace)
    return found


class Balanced:
    """A Collector that asks a name for its replicas, and replicas that watch the same name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.hosts = folder / "hosts"
        self.point_at("127.0.0.1")

    def point_at(self, *addresses: str) -> None:
        self.hosts.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {NAME}\n" for address in addresses))

    def collector(self, backend: str) -> Collector:
        config = yaml.safe_load((CONFIGURATIONS / "loadbalancing.yaml").read_text())
        config["exporters"]["load_balancing/eval"]["resolver"] = {"dns": {"hostname": NAME, "port": str(self.port)}}
        file = self.folder / "loadbalancing.yaml"
        file.write_text(yaml.safe_dump(config))
        return Collector(file, self.folder, prefix=with_names(self.hosts), BACKEND_OTLP_ENDPOINT=backend)

    def replica(self, address: str) -> Server:
        server = replica(self.folder / address, f"{address}:{self.port}", completion__replicas=NAME)
        server.prefix = tuple(with_names(self.hosts))
        return server


def test_half_a_trace_is_never_scored(tmp_path: Path) -> None:
    """A replica comes and goes while traces are under way: each part of a trace that was cut is a fragment where it is, also one that looks
    whole; traces of other times are scored."""
    system = Balanced(tmp_path)
    if not names_can_be_changed(system.hosts):
        if os.environ.get("CI"):
            pytest.fail("unshare --mount is not allowed here: run the tests as root")
        pytest.skip("needs unshare --mount, so that a name can change: run it as root")

    def send(spans: list[Span]) -> None:
        assert collector.post("traces", otlp_json(spans), json_body=True) == 200

    def spans_kept(traces: set[str]) -> int:
        return sum(spans for trace, (spans, _) in arrived(zero, one).items() if trace in traces)

    with OtlpReceiver() as backend, system.collector(backend.url) as collector, system.replica("127.0.0.1") as zero:
        earlier = [span for half in halves("earlier", time.time() - 3600) for span in half]
        send(earlier)
        until(lambda: by_outcome(zero, ids_of(earlier)) == {"scored": ids_of(earlier)}, 30)
        with system.replica("127.0.0.2") as one:
            first, second = halves("come", time.time())
            send(first)
            until(lambda: spans_kept(ids_of(first)) == MANY, 20)
            system.point_at("127.0.0.1", "127.0.0.2")
            until(lambda: collector.counts("otelcol_loadbalancer_num_backends") == 2, 30)
            until(lambda: any("replicas: 1 are now 2" in line for line in zero.log), 20)
            send(second)
            until(lambda: spans_kept(ids_of(first)) == 3 * MANY, 20)
            came = ids_of(first)
            assert arrived(zero).keys() & arrived(one).keys() & came, "no trace was cut"
            until(lambda: "pending" not in by_outcome(zero, came).keys() | by_outcome(one, came).keys(), 40)
            assert by_outcome(zero, came).keys() == {"fragment no_root", "fragment replicas_changed"}
            assert by_outcome(one, came).keys() == {"fragment replicas_changed"}

            first, second = halves("go", time.time())
            send(first)
            until(lambda: spans_kept(ids_of(first)) == MANY, 20)
            system.point_at("127.0.0.1")
            until(lambda: collector.counts("otelcol_loadbalancer_num_backends") == 1, 30)
            until(lambda: any("replicas: 2 are now 1" in line for line in zero.log), 20)
            send(second)
            went = ids_of(first)
            until(lambda: spans_kept(went) == 3 * MANY, 20)
            assert arrived(zero).keys() & arrived(one).keys() & went, "no trace was cut"
            until(lambda: "pending" not in by_outcome(zero, went).keys() | by_outcome(one, went).keys(), 40)
            assert by_outcome(zero, went).keys() == {"fragment replicas_changed"}
            assert by_outcome(one, went).keys() == {"fragment no_root"}
