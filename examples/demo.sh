#!/bin/sh
# What `make demo` runs: real traces in, verdicts out. Works without a key and without network.
set -eu
cd "$(dirname "$0")/.."
otel_eval=${OTEL_EVAL:-otel-eval}

show() {
    printf '\n$ otel-eval %s\n\n' "$*"
    "$otel_eval" "$@"
}

show doctor examples/traces/
show score examples/traces/
