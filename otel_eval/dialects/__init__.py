"""Dialects: one file each, saying where content stands. A new one is one file and one line in BUILTIN."""

from otel_eval.dialects.adk import GOOGLE_ADK
from otel_eval.dialects.adot import AWS_ADOT
from otel_eval.dialects.azure_ai import AZURE_AI
from otel_eval.dialects.base import Dialect, DialectCard, Evidence, Reading
from otel_eval.dialects.braintrust import BRAINTRUST
from otel_eval.dialects.claude_code import CLAUDE_CODE
from otel_eval.dialects.coding_agents import CODING_AGENTS
from otel_eval.dialects.copilot import COPILOT
from otel_eval.dialects.coze import COZE
from otel_eval.dialects.crewai import CREWAI
from otel_eval.dialects.dify import DIFY
from otel_eval.dialects.dspy import DSPY
from otel_eval.dialects.generic import GENERIC
from otel_eval.dialects.genkit import GENKIT
from otel_eval.dialects.google_genai import GOOGLE_GENAI
from otel_eval.dialects.haystack import HAYSTACK
from otel_eval.dialects.laminar import LAMINAR
from otel_eval.dialects.langfuse import LANGFUSE
from otel_eval.dialects.langsmith import LANGSMITH
from otel_eval.dialects.litellm import LITELLM
from otel_eval.dialects.llamaindex import LLAMAINDEX
from otel_eval.dialects.mastra import MASTRA
from otel_eval.dialects.mcp import MCP_DIALECT
from otel_eval.dialects.microsoft import MICROSOFT
from otel_eval.dialects.mlflow import MLFLOW
from otel_eval.dialects.n8n import N8N
from otel_eval.dialects.openinference import OPENINFERENCE
from otel_eval.dialects.openlit import OPENLIT
from otel_eval.dialects.openllmetry import OPENLLMETRY
from otel_eval.dialects.pydantic_ai import PYDANTIC_AI
from otel_eval.dialects.reader import Reader
from otel_eval.dialects.semconv import SEMCONV
from otel_eval.dialects.smolagents import SMOLAGENTS
from otel_eval.dialects.spring_ai import SPRING_AI
from otel_eval.dialects.strands import STRANDS
from otel_eval.dialects.traceai import TRACEAI
from otel_eval.dialects.vercel_ai import VERCEL_AI

BUILTIN: tuple[Dialect, ...] = (
    # Most specific first: the first that says something of a field wins it.
    AWS_ADOT,
    GOOGLE_ADK,
    CLAUDE_CODE,
    CODING_AGENTS,
    COPILOT,
    STRANDS,
    SPRING_AI,
    LANGSMITH,
    MASTRA,
    GENKIT,
    HAYSTACK,
    DSPY,
    MLFLOW,
    VERCEL_AI,
    PYDANTIC_AI,
    SMOLAGENTS,
    AZURE_AI,
    MICROSOFT,
    CREWAI,
    LLAMAINDEX,
    LITELLM,
    OPENLIT,
    N8N,
    DIFY,
    COZE,
    BRAINTRUST,
    LAMINAR,
    TRACEAI,
    MCP_DIALECT,
    GOOGLE_GENAI,
    SEMCONV,
    OPENINFERENCE,
    OPENLLMETRY,
    LANGFUSE,
    GENERIC,
)

__all__ = ["BUILTIN", "Dialect", "DialectCard", "Evidence", "Reader", "Reading"]
