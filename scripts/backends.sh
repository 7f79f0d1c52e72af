#!/bin/sh
# Backends that the tests write scores to, each built once with Go: prints the paths of the programs.
#
#     scripts/backends.sh [NAME...]           build them unless they are there: victoria-logs (20 s), jaeger and prometheus (5 min each)
#     scripts/backends.sh --print [NAME...]   only say where they are or will be
#
# They lie beside the Collector, see scripts/collector.sh. Without a NAME, all three.
set -eu
cache=${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval}

package_of() {
    case $1 in
    victoria-logs) echo github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs@v1.52.1 ;;
    jaeger) echo github.com/jaegertracing/jaeger/cmd/jaeger@v1.76.0 ;; # the second generation, under the first one's number
    prometheus) echo github.com/prometheus/prometheus/cmd/prometheus@v0.316.0 ;; # Prometheus 3.16
    *)
        echo "backends: $1 is none of victoria-logs, jaeger, prometheus" >&2
        exit 2
        ;;
    esac
}

# In a module of its own: `go install PACKAGE@VERSION` refuses modules that replace others, as Jaeger's does. The tag leaves out what Prometheus
# finds targets with in clouds, which is most of what it takes to build.
build() {
    echo "backends: building $1 ($2), once" >&2
    work=$(mktemp -d "$cache/.$1-XXXXXX")
    (
        cd "$work"
        export GOFLAGS=-buildvcs=false
        go mod init example.com/backend
        go get -tool "$2"
        go build -trimpath -tags=remove_all_sd -ldflags='-s -w' -o "$1" "${2%@*}"
    ) >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        rm -rf "$work"
        exit 1
    }
    mkdir -p "$(dirname "$3")"
    mv "$work/$1" "$3"
    rm -rf "$work"
}

only_print=
if [ "${1:-}" = --print ]; then
    only_print=yes
    shift
fi
[ $# -gt 0 ] || set -- victoria-logs jaeger prometheus
for one; do
    package=$(package_of "$one")
    program=$cache/$one-${package##*@}/$one
    if [ -z "$only_print" ] && [ ! -x "$program" ]; then
        mkdir -p "$cache"
        build "$one" "$package" "$program"
    fi
    echo "$program"
done
