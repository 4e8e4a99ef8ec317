"""Asking a language model: what is asked of one, one over HTTP, and how the configuration names it."""

from openclaw_memory.completion.cost import cost_of
from openclaw_memory.completion.errors import CompletionError, MissingPackageError
from openclaw_memory.completion.making import model_from
from openclaw_memory.completion.protocol import ChatModel, Completion, ToolUse

__all__ = [
    "ChatModel",
    "Completion",
    "CompletionError",
    "MissingPackageError",
    "ToolUse",
    "cost_of",
    "model_from",
]
