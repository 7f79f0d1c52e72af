"""A worker of a consumer group: traces are gathered from what a Collector writes to Kafka, brought together by conversation over a second
topic, and scored like what `serve` receives."""
