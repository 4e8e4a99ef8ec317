"""What a crash leaves under a temporary name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from openclaw_memory.layers.rooms import format_of
from openclaw_memory.markdown.frontmatter import checksum
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.leftovers import clean_up

NOW = datetime(2026, 5, 4, 6, 30, tzinfo=UTC)
BODY = "# T\n"
OURS = f"---\nchecksum: {checksum(BODY)}\n---\n{BODY}"


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
    told = clean_up(tmp_path, LocalFiles(), ["facts", "tasks"], format_of, {"7f1c"}, NOW)
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
    assert clean_up(tmp_path, LocalFiles(), ["facts"], format_of, set(), NOW) == {}
    assert list((tmp_path / "facts").iterdir()) == []
