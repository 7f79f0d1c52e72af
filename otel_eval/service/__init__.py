"""The one room that sees all others: configuration, pipelines, commands."""
