#!/bin/sh
# What an installation of the core costs: scripts/size.sh WHEEL. Fails over the limits.
#
# The limits are promises of the README. Counted: everything that the wheel brings, as pip lays it out with compiled files; not pip itself.
set -eu
max_mb=100
max_distributions=36
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/venv.sh" "$work/env" "$1"
"$work/env/bin/python" - "$max_mb" "$max_distributions" <<'PYTHON'
import compileall
import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

max_mb, max_distributions = map(int, sys.argv[1:])
site = Path(sysconfig.get_path("purelib"))
compileall.compile_dir(site, quiet=2)  # uv leaves it to the first run, pip does it at once
not_ours = ("pip", "setuptools", "_distutils_hack", "distutils-precedence.pth")
files = [f for top in site.iterdir() if not top.name.startswith(not_ours) for f in ([top] if top.is_file() else top.rglob("*"))]
size_mb = sum(f.stat().st_size for f in files if f.is_file()) / 1e6
names = {d.metadata["Name"] for d in distributions()} - {"pip", "setuptools"}
print(f"installed core: {size_mb:.0f} MB (limit {max_mb}), {len(names)} distributions (limit {max_distributions})")
sys.exit(size_mb > max_mb or len(names) > max_distributions)
PYTHON
