"""Receiving OTLP: over HTTP and gRPC into one funnel. Heavy parts (`http`, `grpc`, `receiver`) are loaded by who uses them."""
