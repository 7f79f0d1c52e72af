"""Signals: what can be counted without a model, on every conversation.

They say that something happened, not that it was wrong: many tool calls, an error, a refusal can each be right. What each is worth for
finding failures is in its card's source.
"""
