"""otel-eval: score live LLM agents from the OpenTelemetry traces they already emit."""

__version__ = "0.1.0"
