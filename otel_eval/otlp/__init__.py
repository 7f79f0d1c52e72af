"""OTLP in and out: the one room that knows protobuf, gRPC and HTTP. Nothing is imported here, so that the command line starts fast."""
