"""MEMORY.md as a layer: no duplicates, the same meaning updates what is ours, what a person wrote stays."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from openclaw_memory.errors import Refused
from openclaw_memory.layers import curated
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.markdown.curated import digest_of
from openclaw_memory.markdown.notes import MAX_PARSED_CHARS
from openclaw_memory.storage.documents import Draft

PATH = "MEMORY.md"
OLD = "# 长期记忆\n\n## 偏好\n\n- uses Python\n- short answers\n"


def document(text: str, path: str = PATH) -> MarkdownDocument:
    return curated.FORMAT.parse(path, text.encode())


def draft(text: str = OLD) -> Draft:
    return Draft({PATH: curated.FORMAT}, {PATH: document(text)})


def plan(room: Draft, text: str, section: str | None = "偏好", **more: object) -> curated.EntryPlan:
    return curated.plan_entry(room, PATH, text, section=section, language="zh", **more)  # type: ignore[arg-type]


def first(text: str, entries: Sequence[str]) -> int:
    return 0


def test_added_known_updated_beside() -> None:
    """The four things that may become of an entry."""
    room = draft()
    added = plan(room, "likes trains")
    assert added == curated.EntryPlan(f"{PATH}#{digest_of('likes trains')}", digest_of("likes trains"), "added")
    assert room.document(PATH).body == OLD + "- likes trains\n"

    known = plan(room, "Short answers.", section="项目上下文")
    assert (known.outcome, known.digest) == ("known", digest_of("short answers"))
    assert len(room.operations) == 1

    room = draft()
    updated = plan(room, "uses Go", ours=[digest_of("uses Python")], similar=first)
    assert (updated.outcome, updated.replaced) == ("updated", "uses Python")
    assert room.document(PATH).body == OLD.replace("Python", "Go")

    room = draft()
    beside = plan(room, "uses Go", similar=first)
    assert beside.outcome == "beside"
    assert room.document(PATH).body == OLD.replace("- uses Python\n", "- uses Python\n- uses Go\n")


def test_similar_is_asked_with_the_entries_and_only_when_there_are_any() -> None:
    asked = []

    def none(text: str, entries: Sequence[str]) -> None:
        asked.append((text, list(entries)))

    assert plan(draft(), "- likes\n  trains", similar=none).outcome == "added"
    assert plan(draft(""), "likes trains", similar=none).outcome == "added"
    assert asked == [("likes trains", ["uses Python", "short answers"])]


@pytest.mark.parametrize(("text", "says"), [(" \n", "blank"), ("x" * 2_001, "2,000"), ("---", "plain sentence")])
def test_what_is_no_entry_is_refused(text: str, says: str) -> None:
    """By the name of the field, with the limit and what to do; nothing changes."""
    room = draft("# T\n")
    with pytest.raises(Refused, match=says) as refused:
        plan(room, text)
    assert refused.value.field == "text"


def test_a_file_too_long_to_be_kept_in_order() -> None:
    """Nothing is added; what is there is found all the same, and an acknowledged entry is not lost."""
    body = "- word\n\n" * (MAX_PARSED_CHARS // 8 + 10)
    with pytest.raises(Refused, match="250,000"):
        plan(draft(body), "x")
    assert len(curated.blocks(document(body))) == MAX_PARSED_CHARS // 8 + 10
    room = draft()
    plan(room, "uses Go", ours=[digest_of("uses Python")], similar=first)
    late = curated.FORMAT.apply(document(body), room.operations[0])
    assert late.body == body + "\n- uses Go\n"
    assert curated.FORMAT.apply(late, room.operations[0]) is late


def test_an_entry_that_a_person_changed_meanwhile_stays_and_ours_is_added() -> None:
    """Both are there, and the collision is told."""
    room = draft()
    plan(room, "uses Go", ours=[digest_of("uses Python")], similar=first)
    operation = room.operations[0]
    edited = document(OLD.replace("uses Python", "uses Rust"))
    assert curated.FORMAT.collision(edited, operation) is not None
    assert curated.FORMAT.collision(document(OLD), operation) is None
    assert curated.FORMAT.collision(room.document(PATH), operation) is None
    after = curated.FORMAT.apply(edited, operation)
    assert [entry.text for entry in curated.entries_in(after)] == ["uses Rust", "short answers", "uses Go"]


def test_pieces_have_addresses_that_stay() -> None:
    """Entries by their text, paragraphs by their line."""
    found = curated.blocks(
        document("# T\n\nabout me\n\n## 偏好\n\n- short\n- [who](user.md) — Mei\n"), prefix="workspace/main/"
    )
    assert [(block.text, block.section, block.start_line) for block in found] == [
        ("short", "偏好", 7),
        ("[who](user.md) — Mei", "偏好", 8),
        ("about me", "T", 3),
    ]
    assert [block.key for block in found] == [
        f"workspace/main/MEMORY.md#{digest_of('short')}",
        f"workspace/main/MEMORY.md#{digest_of('[who](user.md) — Mei')}",
        "workspace/main/MEMORY.md#L3",
    ]
    assert {(block.layer, block.visibility, block.path) for block in found} == {
        ("memory", "private", "workspace/main/MEMORY.md")
    }
    again = curated.blocks(document("- new\n- short\n"))
    assert again[1].key == f"MEMORY.md#{digest_of('short')}"


def test_files_that_an_index_links_to() -> None:
    """One that does not exist is held as None; a loader asks until nothing is missing."""
    held: dict[str, MarkdownDocument | None] = {PATH: document("- [a](a.md)\n- [gone](gone.md)\n")}
    assert curated.linked_files(PATH, held).missing == ("a.md", "gone.md")
    held |= {"a.md": document("[b](sub/b.md)", "a.md"), "gone.md": None}
    assert curated.linked_files(PATH, held).missing == ("sub/b.md",)
    held["sub/b.md"] = document("[back](../a.md)", "sub/b.md")
    assert curated.linked_files(PATH, held).files == ("a.md", "gone.md", "sub/b.md")
    assert curated.linked_files(PATH, held).missing == ()


def test_text_of_a_file() -> None:
    assert curated.text_of(document("\ufeff# a\r\n- b\r\n")) == "# a\n- b"
