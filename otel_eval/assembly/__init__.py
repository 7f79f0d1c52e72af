"""Steps to conversations: all that every dialect shares is written here, once."""

from otel_eval.assembly.session import AssemblyReport, conversations_from_steps

__all__ = ["AssemblyReport", "conversations_from_steps"]
