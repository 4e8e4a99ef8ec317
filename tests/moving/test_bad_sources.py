"""Sources that are damaged, huge or hostile: what is readable is read, the rest is told by file and line."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.moving import source as sources
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats.json_items import items_of
from openclaw_memory.moving.recognising import read_source
from openclaw_memory.moving.source import open_source
from tests.moving.homes import FIXTURES

CHATS = (FIXTURES / "chatgpt/conversations.json").read_text(encoding="utf-8")


def zipped(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def texts(path: Path) -> list[str]:
    return [message.text for message in read_source(open_source(path), UTC).messages]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    """A file that some other program has saved again."""
    path = tmp_path / "conversations.json"
    path.write_bytes(CHATS.replace("🪁", "").encode(encoding))
    assert texts(path)[-1] == "风筝的尾巴多长？"


def test_damaged_in_the_middle(tmp_path: Path) -> None:
    """One chat that can't be read costs itself; the problem names its line."""
    chats = json.loads(CHATS)
    good = [json.dumps(chat) for chat in chats]
    path = tmp_path / "conversations.json"
    path.write_text(f"[\n{good[0]},\n{good[1][:200]}\n,\n{good[1]}\n]")
    found = read_source(open_source(path), UTC)
    assert len(found.messages) == 7
    assert [problem.where for problem in found.problems] == ["conversations.json, line 3"]


def test_cut_off(tmp_path: Path) -> None:
    """What stands before the end is read."""
    path = tmp_path / "conversations.json"
    path.write_text(CHATS[: CHATS.index('"title": null') + 200], encoding="utf-8")
    found = read_source(open_source(path), UTC)
    assert len(found.messages) == 6
    assert found.problems[0].where.startswith("conversations.json, line ")


@given(st.lists(st.dictionaries(st.sampled_from(["id", "title"]), st.text(max_size=9), min_size=1), max_size=5))
def test_items_are_those_of_the_array(values: list[dict[str, str]]) -> None:
    """Whatever they hold, whatever stands between them."""
    assert [item.value for item in items_of(json.dumps(values, indent=1).encode())] == values


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_are_read_without_an_error(junk: bytes, at: int) -> None:
    """Bytes put anywhere into a file of chats."""
    data = CHATS.encode()[:4000]
    list(items_of(data[:at] + junk + data[at:]))
    list(items_of(junk))


def test_zip_as_it_was_downloaded(tmp_path: Path) -> None:
    """Also when everything lies in a folder of the archive."""
    path = zipped(tmp_path / "export.zip", {"chats/conversations.json": CHATS.encode(), "chats/chat.html": b"<html>"})
    assert len(texts(path)) == 7


@pytest.mark.parametrize("name", ["../conversations.json", "/etc/conversations.json", "C:/conversations.json"])
def test_names_that_lead_out_are_not_read(tmp_path: Path, name: str) -> None:
    """They are told, and nothing is written anywhere: an archive is never unpacked."""
    path = zipped(tmp_path / "export.zip", {name: CHATS.encode(), "conversations.json": CHATS.encode()})
    found = read_source(open_source(path), UTC)
    assert [problem.where for problem in found.problems] == [name]
    assert [item.name for item in tmp_path.iterdir()] == ["export.zip"]


def test_bomb(tmp_path: Path) -> None:
    """A file that is thousands of times larger than it claims is not unpacked."""
    path = zipped(tmp_path / "export.zip", {"conversations.json": b" " * 20_000_000})
    source = open_source(path)
    assert source.names == ()
    assert "not unpacked" in source.problems[0].words


def test_archive_that_claims_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its files together."""
    monkeypatch.setattr(sources, "MAX_ARCHIVE_BYTES", 10_000)
    path = zipped(tmp_path / "export.zip", {f"{number}.json": bytes(range(200)) * 30 for number in range(3)})
    with pytest.raises(SourceError, match="18,000 bytes, at most 10,000"):
        open_source(path)


def test_archive_that_lies_about_a_size(tmp_path: Path) -> None:
    """What comes out is limited, whatever the archive says."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("conversations.json", CHATS.encode())
    data = bytearray(held.getvalue())
    at = data.rindex(b"PK\x01\x02") + 24
    data[at : at + 4] = (100).to_bytes(4, "little")
    path = tmp_path / "export.zip"
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError, match="can't be unpacked"):
        read_source(open_source(path), UTC)


@pytest.mark.parametrize("cut", [30, 200, -40])
def test_torn_archive(tmp_path: Path, cut: int) -> None:
    """An interrupted download says what it is."""
    whole = zipped(tmp_path / "whole.zip", {"conversations.json": CHATS.encode()}).read_bytes()
    path = tmp_path / "export.zip"
    path.write_bytes(whole[:cut])
    with pytest.raises(SourceError):
        read_source(open_source(path), UTC)


def test_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """A file elsewhere is none of the source's."""
    (tmp_path / "secret.md").write_text("- secret\n")
    source = tmp_path / "workspace"
    (source / "memory").mkdir(parents=True)
    (source / "MEMORY.md").write_text("- top\n")
    (source / "memory/link.md").symlink_to(tmp_path / "secret.md")
    found = read_source(open_source(source), UTC)
    assert [file.path for file in found.files] == ["MEMORY.md"]
    assert [problem.where for problem in found.problems] == ["memory/link.md"]


def test_unreadable_and_large_files_cost_themselves(tmp_path: Path) -> None:
    """A file of more than five megabytes, an empty one, one that is no `.md`."""
    (tmp_path / "memory").mkdir()
    for name, text in {"MEMORY.md": "- top", "big.md": "x" * 5_300_000, "empty.md": "\n", "a.txt": "x"}.items():
        (tmp_path / "memory" / name).write_text(text)
    found = read_source(open_source(tmp_path), UTC)
    assert [file.path for file in found.files] == ["MEMORY.md"]
    assert [problem.where for problem in found.problems] == ["memory/big.md"]
    assert [remark.where for remark in found.left_out] == ["memory/a.txt", "memory/empty.md"]


def test_no_such_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        open_source(tmp_path / "nothing")
