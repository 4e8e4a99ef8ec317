"""The examples never write among real memories."""

import pytest

from examples.errors import FolderInUseError
from examples.folders import fresh_folder


def test_missing_folder_is_made(tmp_path):
    """With its parents."""
    assert fresh_folder(tmp_path / "a" / "b", "demo").is_dir()


def test_folder_in_use_is_refused(tmp_path):
    """Made-up memories don't go among real ones."""
    (tmp_path / "memory").mkdir()
    with pytest.raises(FolderInUseError, match="not empty"):
        fresh_folder(tmp_path, "demo")


def test_temporary_folder_is_new_and_named(tmp_path, monkeypatch):
    """Without a wish a new folder is made under the system's temporary one, and kept."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders = {fresh_folder(None, "demo") for _ in range(2)}
    assert len(folders) == 2
    assert all(folder.is_dir() and folder.name.startswith("openclaw-memory-demo-") for folder in folders)
