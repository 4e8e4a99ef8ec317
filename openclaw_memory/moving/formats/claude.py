"""Exports of Claude: `conversations.json`, a list of chats, each with its `chat_messages` in order; `memories.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from contracts.fields import Role
from contracts.names import suggest_topic
from openclaw_memory.moving.formats.json_items import items_of
from openclaw_memory.moving.formats.values import listed, mapping, moment, session_id, word
from openclaw_memory.moving.found import Finding, FoundFile, FoundMessage, Remark

_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}


def read_chats(name: str, data: bytes, zone: tzinfo, found: Finding) -> None:
    """Read a file of chats. Each chat becomes a session `claude-<uuid>`; its name is a message of the system's."""
    for item in items_of(data):
        where = f"{name}, line {item.line}"
        chat = item.value
        if item.problem is not None:
            found.problems.append(Remark(where, item.problem))
        elif not isinstance(chat, dict) or not isinstance(chat.get("chat_messages"), list):
            found.problems.append(Remark(where, "no chat: it has no `chat_messages`"))
        else:
            _read_chat(chat, where, zone, found)


def _read_chat(chat: Mapping[str, Any], where: str, zone: tzinfo, found: Finding) -> None:
    title, began = word(chat.get("name")), moment(chat.get("created_at"), zone)
    identity = word(chat.get("uuid")) or f"{began.isoformat() if began else 'undated'}-{title or 'untitled'}"
    session = session_id("claude", identity)
    last: datetime | None = began
    said: list[FoundMessage] = []
    for number, message in enumerate(chat["chat_messages"], start=1):
        place = f"{where}, message {number}"
        role = _ROLES.get(str(mapping(message).get("sender")))
        if role is None:
            found.problems.append(Remark(place, "`sender` is neither human nor assistant"))
            continue
        last = moment(message.get("created_at"), zone) or last
        if last is None:
            found.problems.append(Remark(place, "neither it nor its chat has a time"))
            continue
        for part_role, text, tool in _parts(role, message):
            if text.strip():
                said.append(FoundMessage(session, part_role, last, text, place, name=tool))
    if said and title is not None:
        found.messages.append(FoundMessage(session, "system", min(began or said[0].time, said[0].time), title, where))
    found.messages += said


def _parts(role: Role, message: Mapping[str, Any]) -> list[tuple[Role, str, str | None]]:
    """Give what a message says: its words, what tools gave, what was attached; each by who says it."""
    said: list[str] = []
    results: list[tuple[Role, str, str | None]] = []
    for block in map(mapping, listed(message.get("content"))):
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                said.append(block["text"])
            case "tool_result":
                results.append(("tool", _result(block.get("content")), word(block.get("name"))))
    text = "\n".join(said)
    if not text.strip() and isinstance(message.get("text"), str):
        text = message["text"]
    for file in map(mapping, listed(message.get("attachments"))):
        content, name = file.get("extracted_content"), word(file.get("file_name"))
        if isinstance(content, str) and content.strip():
            results.append(("tool", content, name))
    return [*results, (role, text, None)] if role == "user" else [(role, text, None), *results]


def _result(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [str(part["text"]) for part in map(mapping, listed(content)) if isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else json.dumps(content, ensure_ascii=False) if content else ""


def read_memories(name: str, data: bytes, found: Finding) -> None:
    """Read what Claude keeps about its user (`memories.json`): a note, and one for each project."""
    for item in items_of(data):
        where = f"{name}, line {item.line}"
        value = mapping(item.value)
        if item.problem is not None or not value:
            found.problems.append(Remark(where, item.problem or "no memory: it is no object"))
            continue
        texts = {"memories": value.get("conversations_memory")}
        texts |= {f"project-{key}": text for key, text in mapping(value.get("project_memories")).items()}
        for key, text in texts.items():
            title = suggest_topic(key)
            if isinstance(text, str) and text.strip() and title is not None:
                path = f"memory/claude/{title}.md"
                found.files.append(FoundFile("workspace", path, text.strip().encode("utf-8", "replace") + b"\n", where))
