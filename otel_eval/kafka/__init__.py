"""Kafka: reading topics in a consumer group without losing a message, and writing one. The one room that knows its client library."""
