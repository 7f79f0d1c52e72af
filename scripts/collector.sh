#!/bin/sh
# The OpenTelemetry Collector of collector/builder-config.yaml, built with Go: prints the path of the program.
#
#     scripts/collector.sh            build it unless it is there (some 4 minutes on 2 cores)
#     scripts/collector.sh --print    only say where it is or will be
#
# It lies in ${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/otel-eval}, in a folder named by the manifest's hash: a changed manifest is a new
# build. Needs Go 1.26 or newer and a Go module proxy.
set -eu
cd "$(dirname "$0")/.."
manifest=collector/builder-config.yaml
builder=go.opentelemetry.io/collector/cmd/builder@v0.158.0
cache=${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval}

hash_of() {
    { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; } | cut -c1-16
}

program=$cache/collector-$(hash_of "$manifest")/otelcol-otel-eval
if [ "${1:-}" = --print ]; then
    echo "$program"
    exit
fi
mkdir -p "$cache"
exec 9>"$cache/.collector.lock"
flock 9 2>/dev/null || true # one build at a time, where the system has flock
if [ ! -x "$program" ]; then
    go version >/dev/null 2>&1 || {
        echo "collector: no Go was found. Install Go 1.26 or newer, then run this again." >&2
        exit 1
    }
    echo "collector: building with $(go version | cut -d' ' -f3), once for each change of $manifest; some 4 minutes" >&2
    work=$(mktemp -d "$cache/.collector-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    sed "s|^  output_path: .*|  output_path: $work/build|" "$manifest" >"$work/builder-config.yaml"
    GOFLAGS=-buildvcs=false go run "$builder" --config "$work/builder-config.yaml" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    mkdir -p "$(dirname "$program")"
    mv "$work/build/otelcol-otel-eval" "$program"
fi
echo "$program"
