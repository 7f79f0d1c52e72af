"""Judges: who answers a metric's question."""
