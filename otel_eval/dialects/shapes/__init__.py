"""Readers for the shapes in which producers write messages, parts, calls and results: shared by all dialects.

A dialect says *where* content stands; these say *what* it is: semconv parts, OpenAI chat and Responses items, Anthropic and Bedrock
blocks, Gemini contents, LangChain serialisations, Vercel, Pydantic AI, Haystack, LlamaIndex and Genkit messages; each as structured value,
as
JSON text, doubly encoded, or cut in the middle.
"""
