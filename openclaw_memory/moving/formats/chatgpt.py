"""Exports of ChatGPT: `conversations.json`, a list of chats, each a tree of messages of which one branch is current."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any, get_args

from contracts.fields import Role
from openclaw_memory.moving.formats.json_items import items_of
from openclaw_memory.moving.formats.values import listed, mapping, moment, session_id, word
from openclaw_memory.moving.found import Finding, FoundMessage, Remark

_ROLES: frozenset[str] = frozenset(get_args(Role))
_MOST_STEPS = 100_000
"""Messages of one branch; a tree that leads further leads in a circle."""


def read_chats(name: str, data: bytes, zone: tzinfo, found: Finding) -> None:
    """Read a file of chats. Each chat becomes a session `chatgpt-<id>`; its title is a message of the system's."""
    for item in items_of(data):
        where = f"{name}, line {item.line}"
        chat = item.value
        if item.problem is not None:
            found.problems.append(Remark(where, item.problem))
        elif not isinstance(chat, dict) or not isinstance(chat.get("mapping"), dict):
            found.problems.append(Remark(where, "no chat: it has no `mapping` of messages"))
        else:
            _read_chat(chat, where, zone, found)


def _read_chat(chat: Mapping[str, Any], where: str, zone: tzinfo, found: Finding) -> None:
    title = word(chat.get("title"))
    identity = word(chat.get("conversation_id")) or word(chat.get("id"))
    began = moment(chat.get("create_time"), zone)
    if identity is None:
        identity = f"{began.isoformat() if began else 'undated'}-{title or 'untitled'}"
    session = session_id("chatgpt", identity)
    last: datetime | None = began
    said: list[FoundMessage] = []
    for node, message in _branch(chat, where, found):
        role = str(mapping(message.get("author")).get("role"))
        if mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True:
            continue
        text = _text(mapping(message.get("content")))
        if not text.strip():
            continue
        if role not in _ROLES:
            found.problems.append(Remark(f"{where}, message {node}", f"its role is {role!r}, which is not known"))
            continue
        last = moment(message.get("create_time"), zone) or last
        if last is None:
            found.problems.append(Remark(f"{where}, message {node}", "neither it nor its chat has a time"))
            continue
        name = word(mapping(message.get("author")).get("name"))
        said.append(FoundMessage(session, _role(role), last, text, f"{where}, message {node}", name=name))
    if said and title is not None:
        when = min(began or said[0].time, said[0].time)
        found.messages.append(FoundMessage(session, "system", when, title, where))
    found.messages += said


def _role(role: str) -> Role:
    return role  # type: ignore[return-value]  # one of Role's words, which is looked at before


def _branch(chat: Mapping[str, Any], where: str, found: Finding) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the messages of the current branch, oldest first; where none is named, that of the last leaf."""
    nodes: dict[str, Any] = chat["mapping"]
    at = word(chat.get("current_node"))
    if at not in nodes:
        leaves = [name for name, node in nodes.items() if not listed(mapping(node).get("children"))]
        at = leaves[-1] if leaves else next(reversed(nodes), None)
    path: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while at is not None and len(seen) < _MOST_STEPS:
        node = nodes.get(at)
        if at in seen or not isinstance(node, dict):
            found.problems.append(Remark(where, f"its messages lead to {at!r:.60}, which is not there or was before"))
            break
        seen.add(at)
        if isinstance(node.get("message"), dict):
            path.append((at, node["message"]))
        at = word(node.get("parent"))
    rest = sum(
        1
        for name, node in nodes.items()
        if name not in seen and _text(mapping(mapping(mapping(node).get("message")).get("content"))).strip()
    )
    if rest:
        found.left_out.append(Remark(where, f"{rest} messages of branches that were given up"))
    yield from reversed(path)


def _text(content: Mapping[str, Any]) -> str:
    """Give what a message says in words: parts of a text, of code, of what a tool gave; pictures are named."""
    said = [part for part in map(_part, listed(content.get("parts"))) if part]
    said += [content[key] for key in ("text", "result", "content") if isinstance(content.get(key), str)]
    return "\n".join(part for part in said if part)


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    value = mapping(part)
    if isinstance(value.get("text"), str):
        return str(value["text"])
    kind = word(value.get("content_type"))
    if kind is None:
        return json.dumps(part, ensure_ascii=False) if part else ""
    return f"[{kind}]"
