"""Conversations in other people's forms, out and in: messages, our own JSON, OpenAI chat, ragas, ADK."""
