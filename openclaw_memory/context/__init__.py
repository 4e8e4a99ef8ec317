"""What goes back to the Brain: counting, budgets, what a session may see, assembling. Pure; no disk."""

from openclaw_memory.context.allocation import TokenBudget, allocate_token_budget
from openclaw_memory.context.assemble import build_context
from openclaw_memory.context.auto_recall import auto_recall
from openclaw_memory.context.budget import divide
from openclaw_memory.context.errors import EncodingUnavailableError, UnknownEncodingError
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.prompt import Prompt, Slots, assemble_prompt
from openclaw_memory.context.recalled import Language, recalled_text
from openclaw_memory.context.selection import select_history
from openclaw_memory.context.shapes import as_anthropic, as_openai, as_text
from openclaw_memory.context.tokens import EstimateCounter, TokenCounter, make_counter
from openclaw_memory.context.visibility import Visibility, allow, audience, kind_of, policy, task_named

__all__ = [
    "EncodingUnavailableError",
    "EstimateCounter",
    "Language",
    "Line",
    "Material",
    "Prompt",
    "Slots",
    "TokenBudget",
    "TokenCounter",
    "UnknownEncodingError",
    "Visibility",
    "allocate_token_budget",
    "allow",
    "as_anthropic",
    "as_openai",
    "as_text",
    "assemble_prompt",
    "audience",
    "auto_recall",
    "build_context",
    "divide",
    "kind_of",
    "make_counter",
    "policy",
    "recalled_text",
    "select_history",
    "task_named",
]
