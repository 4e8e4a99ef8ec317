"""A prompt in the shapes that models take: one text, OpenAI's chat messages, Anthropic's messages."""

from __future__ import annotations

import json
from typing import Any

from openclaw_memory.context.prompt import Prompt, Tool, section
from openclaw_memory.context.prompt_words import WORDS
from openclaw_memory.context.quoting import indented, name_of, neutral, one_line
from openclaw_memory.context.turns import Turn
from openclaw_memory.transcripts.values import ToolCall

BEGINNING = "…"
"""What stands for the user where a conversation begins with the agent's words: Anthropic's begin with the user's."""


def as_text(prompt: Prompt) -> str:
    """Write a prompt as one text: sections under headings, turns as `user: ...` with further lines indented."""
    words = WORDS[prompt.language]
    lines = [_line(turn) for turn in prompt.turns]
    parts = [
        *prompt.system,
        section(words.conversation, *lines[: prompt.history]),
        section(words.message, *lines[prompt.history :]),
        section(words.tools, *map(_tool, prompt.tools)),
    ]
    return "\n\n".join(text for text in parts if text)


def as_openai(prompt: Prompt) -> dict[str, Any]:
    """Give `messages` and, where there are tools, `tools`, as OpenAI's chat completions take them."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": text} for text in prompt.system]
    for turn in prompt.turns:
        if turn.role == "tool":
            messages.append({"role": "tool", "tool_call_id": turn.call_id, "content": neutral(turn.content)})
        elif turn.calls:
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in turn.calls
            ]
            messages.append({"role": turn.role, "content": neutral(turn.content) or None, "tool_calls": calls})
        else:
            messages.append({"role": turn.role, "content": neutral(turn.content)})
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in prompt.tools
    ]
    return {"messages": messages, **({"tools": tools} if tools else {})}


def as_anthropic(prompt: Prompt) -> dict[str, Any]:
    """Give `system`, `messages` and, where there are tools, `tools`, as Anthropic's messages take them.

    Speakers alternate and the user begins: turns of one side that follow each other become one message, results of
    tools in front. `system` is a list of texts of which the first, the fixed one, may be cached by the caller.
    """
    messages: list[dict[str, Any]] = []
    for turn in prompt.turns:
        role = "assistant" if turn.role == "assistant" else "user"
        if not messages and role == "assistant":
            messages.append({"role": "user", "content": [_text_block(BEGINNING)]})
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"] += _blocks(turn)
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
        for tool in prompt.tools
    ]
    system = [_text_block(text) for text in prompt.system]
    return {
        **({"system": system} if system else {}),
        "messages": messages,
        **({"tools": tools} if tools else {}),
    }


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Read the arguments of a call; what is no JSON object is kept as `arguments`."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"arguments": call.arguments}


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    if turn.role == "tool":
        return [{"type": "tool_result", "tool_use_id": turn.call_id, "content": neutral(turn.content)}]
    said = [_text_block(neutral(turn.content))] if turn.content.strip() else []
    return [
        *said,
        *({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)} for call in turn.calls),
    ]


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _line(turn: Turn) -> str:
    speaker = f"tool {name_of(turn.name or '')}".strip() if turn.role == "tool" else turn.role
    calls = "".join(f"\n  [calls {call.name} with {one_line(call.arguments, 2_000)}]" for call in turn.calls)
    return f"{speaker}: {indented(turn.content)}{calls}"


def _tool(tool: Tool) -> str:
    parameters = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"- {tool.name}: {indented(tool.description)} {parameters}"
