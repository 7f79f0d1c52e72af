"""`python -m otel_eval` is `otel-eval`."""

from otel_eval.cli import main

if __name__ == "__main__":
    main(prog_name="otel-eval")
