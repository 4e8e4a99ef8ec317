"""What a crash leaves under a temporary name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from openclaw_memory.layers.rooms import format_of
from openclaw_memory.markdown.frontmatter import checksum
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.leftovers import clean_up
from openclaw_memory.storage.places import Places

NOW = datetime(2026, 5, 4, 6, 30, tzinfo=UTC)
BODY = "# T\n"
OURS = f"---\nchecksum: {checksum(BODY)}\n---\n{BODY}"


def test_two_saves_of_one_document_are_both_kept(tmp_path: Path) -> None:
    """Also when they are found within one second: neither takes the place of the other."""
    (tmp_path / "facts").mkdir()
    for number in range(3):
        (tmp_path / f"facts/.a.md.{number:012x}.tmp").write_text(f"by hand {number}\n")
    clean_up(Places(tmp_path), LocalFiles(), ["facts"], format_of, set(), NOW)
    kept = {path.name: path.read_text() for path in (tmp_path / "facts").iterdir()}
    assert kept.keys() == {f"a.md.recovered-20260504T063000{more}" for more in ("", "-2", "-3")}
    assert sorted(kept.values()) == [f"by hand {number}\n" for number in range(3)]


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        (".a.md.0123456789ab.tmp", "", False),
        (".a.md.0123456789ab.tmp", "---\nchecksum: 7f1c\n---\n# torn in the mid", False),
        (".a.md.0123456789ab.tmp", "---\nchecksum: other\n---\n# a person's edit\n", True),
        (".a.md.0123456789ab.tmp", "# a person's own file\n", True),
        (".index.json.0123456789ab.tmp", "{", False),
        (".a.md.swp", "an editor's own", None),
        ("a.md", "a document", None),
        (".a.md.0123456789AB.tmp", "somebody else's name", None),
    ],
)
def test_only_what_is_certainly_ours_goes(tmp_path: Path, name: str, text: str, kept: bool | None) -> None:
    """Everything else is kept under a name that tells, or was never ours to touch."""
    (tmp_path / "facts").mkdir()
    path = tmp_path / "facts" / name
    path.write_text(text)
    told = clean_up(Places(tmp_path), LocalFiles(), ["facts", "tasks"], format_of, {"7f1c"}, NOW)
    left = {item.name: item.read_text() for item in (tmp_path / "facts").iterdir()}
    if kept is None:
        assert (left, told) == ({name: text}, {})
    elif kept:
        assert left == {"a.md.recovered-20260504T063000": text}
        assert list(told) == ["facts/a.md"]
    else:
        assert (left, told) == ({}, {})


def test_whole_file_of_ours_goes(tmp_path: Path) -> None:
    """A file that fits its own checksum is a version that we wrote, whatever the journal still knows."""
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/.a.md.0123456789ab.tmp").write_text(OURS)
    assert clean_up(Places(tmp_path), LocalFiles(), ["facts"], format_of, set(), NOW) == {}
    assert list((tmp_path / "facts").iterdir()) == []
