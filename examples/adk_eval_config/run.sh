# Criteria and cases as ADK's own evaluation reads them, on traces instead of a run.
show() {
    echo "\$ $*"
    "$@"
}
show otel-eval score --eval-config eval_config.json --dataset cases.json ../traces/adk.jsonl
