#!/bin/sh
# Real clients for tests/end_to_end/test_real_exporters.py: prints the folder in which one is installed.
#
#     scripts/exporters.sh js|rotel            install it unless it is there (the OpenTelemetry SDK for JavaScript needs Node.js 20 and npm)
#     scripts/exporters.sh --print js|rotel    only say where it is or will be
#
# They lie in ${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/otel-eval}, in a folder named by version: a changed version is a new one.
set -eu
cd "$(dirname "$0")/.."
rotel=0.0.1a15
cache=${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval}
only_print=
if [ "${1:-}" = --print ]; then
    only_print=yes
    shift
fi

hash_of() {
    { sha256sum "$1" 2>/dev/null || shasum -a 256 "$1"; } | cut -c1-16
}

case ${1:-} in
js) folder=$cache/js-$(hash_of tests/end_to_end/js/package-lock.json) ;;
rotel) folder=$cache/rotel-$rotel ;;
*)
    echo "exporters: expected js or rotel" >&2
    exit 2
    ;;
esac
if [ -z "$only_print" ] && [ ! -f "$folder/.ready" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    case $1 in
    js)
        npm --version >/dev/null 2>&1 || {
            echo "exporters: no npm was found. Install Node.js 20 or newer, then run this again." >&2
            exit 1
        }
        cp tests/end_to_end/js/package.json tests/end_to_end/js/package-lock.json "$folder"
        (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error >&2)
        ;;
    rotel) scripts/venv.sh "$folder" "rotel==$rotel" >&2 ;;
    esac
    touch "$folder/.ready"
fi
echo "$folder"
