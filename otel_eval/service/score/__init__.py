"""`otel-eval score` in parts: what is to be done, what was done before, and what is said about it."""
