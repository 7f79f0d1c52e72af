"""Who may import whom: the map of the package, held against every import statement in it.

An import inside a function and one under TYPE_CHECKING count like any other. To change the map, change a table here and say why.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "otel_eval"

BASES = frozenset({"dialects.base", "judges.base", "metrics.base", "sinks.base"})
BELOW_SERVICE = frozenset(
    {
        "errors",
        "quiet",
        "telemetry",
        "model",
        "registry",
        "store",
        "otlp",
        "dialects",
        "assembly",
        "exchange",
        "completion",
        "sampling",
        "triage",
        "judges",
        "metrics",
        "scoring",
        "sinks",
        "kafka",
    }
)

MAY_IMPORT: Mapping[str, frozenset[str]] = {
    # room: what it may import; "room.file" allows that one file of the room
    "errors": frozenset(),
    "quiet": frozenset(),
    "telemetry": frozenset(),
    "model": frozenset(),
    "registry": frozenset({"errors"}),
    "store": frozenset({"errors", "model"}),
    "otlp": frozenset({"model", "errors", "telemetry"}),
    "dialects": frozenset({"model"}),
    "assembly": frozenset({"model"}),
    "completion": frozenset({"model"}),
    "sampling": frozenset({"model"}),
    # metrics: what is counted is written down once
    "triage": frozenset({"model", "metrics"}),
    # errors: it reads what strangers wrote, and refuses what it cannot read
    "exchange": frozenset({"model", "errors"}),
    # model: a question holds the conversation it is about
    # quiet: its calls are kept out of the host's traces
    "judges": frozenset({"errors", "telemetry", "model", "quiet"}),
    # judges.heuristic: what people say in seven languages is written down once
    "metrics": frozenset({"model", "judges.base", "judges.heuristic.language", "judges.heuristic.phrases"}),
    "scoring": frozenset({"model", "metrics.base", "judges.base", "errors"}),
    # otlp: results leave as OTLP, and the one encoder stands there
    "sinks": frozenset({"model", "errors", "telemetry", "otlp"}),
    # it moves bytes: what is in them is known to who uses it
    "kafka": frozenset({"errors"}),
    "service": BELOW_SERVICE,
    "testing": frozenset({"model", "errors"}) | BASES,
    # model: the command line words what comes back
    "cli": frozenset({"service", "errors", "model"}),
    # the Python interface: the same choices as the command line, without one
    "api": BELOW_SERVICE | {"service"},
    # the scorer inside an application: the parts of `serve` behind another door; api: metrics and judges are named in the same ways
    "inprocess": BELOW_SERVICE | {"service", "api"},
    # The list of public names. No room imports it: that would close a circle through the whole package.
    "__init__": BELOW_SERVICE | {"service", "api", "inprocess"},
    "__main__": frozenset({"cli"}),
}

OUTSIDE: Mapping[str, frozenset[str]] = {
    # module of another distribution: where it may be imported, by room or by "room.file"
    "click": frozenset({"cli"}),
    "confluent_kafka": frozenset({"kafka"}),
    "google.protobuf": frozenset({"otlp"}),
    "google.rpc": frozenset({"otlp"}),
    "grpc": frozenset({"otlp"}),
    "openai": frozenset({"judges.openai"}),
    "opentelemetry.proto": frozenset({"otlp"}),
    # inprocess: it lives on the SDK's side of the wire, and its store in a file holds what the SDK's own encoder writes
    "opentelemetry": frozenset({"telemetry", "sinks", "service", "quiet", "inprocess"}),
    # where strangers write: the operator's file, a judge's reply, a metric's question
    "pydantic": frozenset({"service", "judges", "metrics"}),
    # the JSON reader, twice as fast as the standard one; no model classes
    "pydantic_core": frozenset({"service", "judges", "metrics", "otlp", "dialects", "assembly", "exchange"}),
    "uvicorn": frozenset({"otlp", "service"}),
    "xllamacpp": frozenset({"judges.local"}),
    "yaml": frozenset({"service"}),
    "zstandard": frozenset({"otlp"}),
}

PURE = frozenset({"errors", "model", "registry", "dialects", "assembly", "exchange", "completion", "sampling", "triage", "metrics"})
IMPURE_MODULES = frozenset({"time", "random", "secrets", "socket", "subprocess", "http", "urllib.request", "sqlite3", "threading"})
IMPURE_CALLS = frozenset({"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4"})

BROAD_EXCEPTS: Mapping[str, str] = {
    # file: why it may catch everything; it counts or reports what it swallows by class name
    "inprocess/capture.py": "the call of an instrumentation's own switch",
    "inprocess/engine.py": "the reading of one trace",
    "inprocess/scorer.py": "the door to the application: nothing is ever raised into it",
    "inprocess/standing.py": "the call of what a thread was given; whoever asked is told",
    "inprocess/talk.py": "the application's own block: what it raises is noted on its span and goes on",
    "inprocess/worker.py": "the loop of the thread that scores",
    "kafka/feed.py": "the calls of who works on messages: one of them must not hold its partition up",
    "metrics/adk/metric.py": "the call of a function in ADK's form",
    "metrics/custom.py": "the call of a user's function",
    "metrics/functions.py": "the import of an operator's module",
    "metrics/matchers.py": "the call of an operator's matcher",
    "otlp/receive/grpc.py": "the call of the funnel: a fault must not cost a sender its data",
    "otlp/receive/http.py": "the call of the funnel: a fault must not cost a sender its data",
    "registry.py": "the import of a plug-in",
    "scoring.py": "the call of a metric",
    "testing.py": "the calls whose exceptions are looked for",
    "store/writer.py": "the loop of the one thread that writes",
    "service/serve/lifecycle.py": "the loop that looks at what is due",
    "service/serve/looking.py": "the reading of one unit",
    "service/serve/sending.py": "the call of a sink",
    "service/serve/working.py": "the scoring of one unit",
}


class Import(NamedTuple):
    """One imported module, absolute, and where."""

    file: Path
    line: int
    module: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def place_of(file: Path) -> str:
    """The module of a file below the package, "judges.openai"; a folder's `__init__.py` is the folder."""
    parts = list(file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def is_within(module: str, allowed: frozenset[str]) -> bool:
    """Whether a module is one of those allowed or stands below one."""
    return any(module == name or module.startswith(f"{name}.") for name in allowed)


PLACES = frozenset(place_of(file) for file in files())
ROOMS = frozenset(place.split(".")[0] for place in PLACES)


def imports_of(file: Path) -> Iterator[Import]:
    """Every module a file imports; `from a import b` gives a.b where that is a module of ours, else a."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(file, node.lineno, name.name)
        elif isinstance(node, ast.ImportFrom):
            for module in modules_of_from(node):
                yield Import(file, node.lineno, module)


def modules_of_from(node: ast.ImportFrom) -> set[str]:
    """The modules meant by one `from … import …`: a submodule where the name is one, else the module itself."""
    base = "." * node.level + (node.module or "")
    if base.split(".")[0] == "otel_eval":
        below = {name.name: f"{base}.{name.name}".removeprefix("otel_eval.") for name in node.names}
        return {f"otel_eval.{place}" if place in PLACES else base for place in below.values()}
    return {f"{base}.{name.name}" for name in node.names} if base in {"google", "opentelemetry", "urllib"} else {base}


ALL_IMPORTS = [found for file in files() for found in imports_of(file)]
OURS = [found for found in ALL_IMPORTS if found.module.split(".")[0] == "otel_eval"]
THEIRS = [
    found
    for found in ALL_IMPORTS
    if found.module.split(".")[0] not in {"otel_eval", ""} and found.module.split(".")[0] not in sys.stdlib_module_names
]


def target_of(found: Import) -> str:
    return found.module.removeprefix("otel_eval").removeprefix(".") or "__init__"


def test_every_room_stands_in_the_map() -> None:
    """A new room is a decision: it is entered in MAY_IMPORT."""
    assert ROOMS - set(MAY_IMPORT) == set()


def test_the_map_has_no_circle() -> None:
    """Rooms are layers: following the map never leads back to the room one came from."""
    rooms = {room: {name.split(".")[0] for name in allowed} for room, allowed in MAY_IMPORT.items()}
    TopologicalSorter(rooms).prepare()


def test_imports_follow_the_map() -> None:
    """No room imports a room that the map does not give it."""
    wrong = []
    for found in OURS:
        room, target = place_of(found.file).split(".")[0], target_of(found)
        if target.split(".")[0] != room and not is_within(target, MAY_IMPORT.get(room, frozenset())):
            wrong.append(str(found))
    assert wrong == []


def test_files_have_no_circle() -> None:
    """No file is imported, by whatever way, by a file that it imports."""
    graph: dict[str, set[str]] = {}
    for found in OURS:
        graph.setdefault(place_of(found.file), set()).add(target_of(found))
    TopologicalSorter(graph).prepare()


def test_no_import_is_relative() -> None:
    """An import says its whole path, so that a search for a module finds all who use it."""
    assert [str(found) for found in ALL_IMPORTS if found.module.startswith(".")] == []


def test_other_distributions_stay_in_their_rooms() -> None:
    """Each foreign package is known to the rooms that OUTSIDE names, and to no other."""
    wrong = []
    for found in THEIRS:
        fences = [name for name in OUTSIDE if is_within(found.module, frozenset({name}))]
        allowed = OUTSIDE[max(fences, key=len)] if fences else frozenset[str]()
        if not is_within(place_of(found.file), allowed):
            wrong.append(str(found))
    assert wrong == []


def test_pure_rooms_import_no_effects() -> None:
    """The middle of the package has no clock, network, process, thread or randomness."""
    assert [str(found) for found in ALL_IMPORTS if is_pure(found.file) and is_within(found.module, IMPURE_MODULES)] == []


def test_pure_rooms_call_no_clock() -> None:
    """Time and ids are arguments of the pure rooms: nothing there asks for the present moment or a random id."""
    wrong = []
    for file in filter(is_pure, files()):
        calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        wrong += [f"{file.relative_to(ROOT)}:{call.lineno}" for call in calls if is_impure(ast.unparse(call.func))]
    assert wrong == []


def is_pure(file: Path) -> bool:
    return place_of(file).split(".")[0] in PURE


def is_impure(call: str) -> bool:
    return any(call == name or call.endswith(f".{name}") for name in IMPURE_CALLS)


def test_everything_is_caught_only_in_declared_places() -> None:
    """`except Exception` stands only around the call of a plug-in and in the worker loop."""
    broad = {str(file.relative_to(PACKAGE)) for file in files() if any(map(is_broad, ast.walk(ast.parse(file.read_text()))))}
    assert broad - set(BROAD_EXCEPTS) == set()


def is_broad(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(kind is None or ast.unparse(kind) in {"Exception", "BaseException"} for kind in caught)


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("from otel_eval import model", "otel_eval.model"),
        ("from otel_eval.model import Span", "otel_eval.model"),
        ("from otel_eval.model.span import Span", "otel_eval.model.span"),
        ("def f():\n    import otel_eval.errors", "otel_eval.errors"),
        ("if TYPE_CHECKING:\n    from otel_eval.model import span", "otel_eval.model.span"),
        ("from opentelemetry import proto", "opentelemetry.proto"),
        ("from .span import Span", ".span"),
    ],
)
def test_imports_are_found_wherever_they_stand(tmp_path: Path, text: str, module: str) -> None:
    """The reader under all these tests sees each way to write an import."""
    file = tmp_path / "some.py"
    file.write_text(text)
    assert [found.module for found in imports_of(file)] == [module]
