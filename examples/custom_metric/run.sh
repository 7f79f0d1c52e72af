# A metric is a function, named by its module and its name; the module lies here.
show() {
    echo "\$ $*"
    "$@"
}
export PYTHONPATH=.
show otel-eval score --metric honest:owns_up --metric tool_error_rate ../traces ../offline/exports/tempo.json
