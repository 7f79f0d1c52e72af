# Captured runs, put into the forms in which three backends give traces out.
show() {
    echo "\$ $*"
    "$@"
}
show otel-eval doctor exports/
show otel-eval score --metric agent_goal_accuracy --metric repeated_calls exports/jaeger.json exports/tempo.json exports/langfuse.json
