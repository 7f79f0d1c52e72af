"""Runs examples: python examples/run.py [--real] NAME... Without a NAME, it lists them; `all` is all of them.

An agent talks to a model on this machine that plays stories (model/), its spans go to an `otel-eval serve` that is started for it, and the
scores are printed. With --real it talks to the endpoint of OPENAI_BASE_URL and OPENAI_API_KEY, by the model of MODEL.

What a framework needs is installed into an environment of its own, once for each change of its requirements, in the folder that
OTEL_EVAL_CACHE names. Needed: this Python with otel-eval; for the JavaScript example Node.js 20 or newer.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from running.environments import MissingError, command_of
from running.processes import Model, Scorer, table_from_results

HERE = Path(__file__).parent
MISSING = 3
EXAMPLES = sorted({file.parent.name for kind in ("main.py", "main.mjs", "run.sh") for file in HERE.glob(f"*/{kind}")})


def run(name: str, *, real: bool) -> None:
    """Run an example and print what it prints, and its scores."""
    folder = HERE / name
    command = command_of(folder)
    if not (config := folder / "otel-eval.yaml").exists():
        with Model(real=real) as model:
            subprocess.run(command, cwd=folder, env=environment(model.environment), check=True)
        return
    with Model(real=real) as model, Scorer(config) as scorer:
        subprocess.run(command, cwd=folder, env=environment({**model.environment, **scorer.environment}), check=True)
        print("\n" + table_from_results(scorer.results()), flush=True)


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """That of this process, with otel-eval on the paths and nothing that would lead telemetry elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PYTHONPATH", "VIRTUAL_ENV"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"MODEL": "gpt-4.1-mini", **kept, "PATH": path, "PYTHONPATH": str(HERE.parent), "PYTHONUNBUFFERED": "1", **more}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or one of {', '.join(EXAMPLES)}")
    parser.add_argument("--real", action="store_true", help="ask the endpoint of OPENAI_BASE_URL, which may cost money")
    asked = parser.parse_args(arguments)
    names = EXAMPLES if "all" in asked.names else asked.names
    if unknown := set(names) - set(EXAMPLES):
        parser.error(f"there is no example {', '.join(sorted(unknown))}; there are {', '.join(EXAMPLES)}")
    if not names:
        print(*EXAMPLES, sep="\n")
    return max((attempt(name, real=asked.real) for name in names), default=0)


def attempt(name: str, *, real: bool) -> int:
    """Run an example; 0, 1 where it failed, 3 where this machine lacks something."""
    began = time.monotonic()
    try:
        run(name, real=real)
    except MissingError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return MISSING
    except subprocess.CalledProcessError as error:
        print(f"{name}: it ended with {error.returncode}", file=sys.stderr)
        return 1
    print(f"{name}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
