"""Any sequence of commands does what a dictionary would do, and touches nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.storage.files import LocalFiles, OpenFile, Stamp
from tests.filetool.conftest import fill, held, tool_of
from tests.filetool.test_root import OUTSIDE

NAMES = st.sampled_from(["a", "b", "c.md", "字.txt"])
TEXTS = st.text(st.sampled_from("xy\n é"), max_size=8)
PATHS = st.one_of(
    st.lists(NAMES, max_size=3).map(lambda names: "/".join(["/memories", *names])),
    st.lists(NAMES, min_size=1, max_size=2).map(lambda names: "/".join(["/memories", *names])),
)
ANY_PATHS = st.one_of(PATHS, PATHS, PATHS, st.sampled_from([*OUTSIDE, "/memories/link/n.md", "/memories/file.md"]))
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": ANY_PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": ANY_PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": ANY_PATHS}),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": ANY_PATHS, "old_str": TEXTS, "new_str": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": ANY_PATHS, "insert_line": st.integers(-1, 4), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": ANY_PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": ANY_PATHS, "new_path": ANY_PATHS}),
)


class Model:
    """A dictionary of texts by path, and the folders that there are; each command says whether it is refused."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.folders = {"/memories"}

    def do(self, command: Mapping[str, Any]) -> bool:
        paths = [command[name] for name in ("path", "old_path", "new_path") if name in command]
        if any(path in OUTSIDE or path.startswith(("/memories/link", "/memories/file.md")) for path in paths):
            return False
        arguments = {name: value for name, value in command.items() if name != "command"}
        return bool(getattr(self, f"_{command['command']}")(**arguments))

    def _view(self, path: str) -> bool:
        return path in self.files or path in self.folders

    def _create(self, path: str, file_text: str) -> bool:
        if path in self.files or path in self.folders or not self._room(path):
            return False
        self._folders_of(path)
        self.files[path] = file_text
        return True

    def _str_replace(self, path: str, old_str: str, new_str: str) -> bool:
        text = self.files.get(path)
        if text is None or not old_str or sum(text.startswith(old_str, at) for at in range(len(text))) != 1:
            return False
        self.files[path] = text.replace(old_str, new_str)
        return True

    def _insert(self, path: str, insert_line: int, insert_text: str) -> bool:
        text = self.files.get(path)
        if text is None:
            return False
        lines = text.split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if not 0 <= insert_line <= len(lines):
            return False
        closed = text.endswith("\n") or insert_line == len(lines)
        lines[insert_line:insert_line] = insert_text.removesuffix("\n").split("\n")
        self.files[path] = "\n".join(lines) + ("\n" if closed else "")
        return True

    def _delete(self, path: str) -> bool:
        if path == "/memories" or not self._view(path):
            return False
        self.files = {name: text for name, text in self.files.items() if not _in(name, path)}
        self.folders = {name for name in self.folders if not _in(name, path)}
        return True

    def _rename(self, old_path: str, new_path: str) -> bool:
        old, new = old_path, new_path
        if old == "/memories" or not self._view(old) or self._view(new) or _in(new, old) or not self._room(new):
            return False
        deepest = max(name.count("/") - old.count("/") for name in (*self.files, *self.folders) if _in(name, old))
        if new.count("/") + deepest > 6:
            return False
        self._folders_of(new)
        moved = [name for name in (*self.files, *self.folders) if _in(name, old)]
        for name in moved:
            target = new + name.removeprefix(old)
            if name in self.folders:
                self.folders = self.folders - {name} | {target}
            else:
                self.files[target] = self.files.pop(name)
        return True

    def _room(self, path: str) -> bool:
        return not any(_in(path, name) for name in self.files)

    def _folders_of(self, path: str) -> None:
        parts = path.split("/")
        self.folders |= {"/".join(parts[:end]) for end in range(2, len(parts))}


def _in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


class QuickFiles(LocalFiles):
    """The disk, which is not waited for; every file is old."""

    def sync_folder(self, path: Path) -> None: ...

    def create(self, path: Path, mode: int = 0o600) -> OpenFile:
        file = super().create(path, mode)
        file.sync = lambda: None  # type: ignore[method-assign]
        return file

    def age(self, stamp: Stamp) -> float:
        return 60.0


@settings(max_examples=150, deadline=None)
@given(st.lists(COMMANDS, max_size=25))
def test_any_commands(commands: list[dict[str, Any]]) -> None:
    """Files, folders and refusals are the model's after each command; outside of the folder no byte changes."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        tool, model = tool_of(root, QuickFiles()), Model()
        workspace = tool.folder.parent
        outside = {"MEMORY.md": "m", "memories_backup/n.md": "b", "memory/2026-05-04.md": "d"}
        fill(workspace, {**outside, "memories/.kept": "k"})
        (tool.folder / "link").symlink_to(workspace / "memories_backup")
        (tool.folder / "file.md").symlink_to(workspace / "MEMORY.md")
        for command in commands:
            reply = tool.run_now(command)
            assert reply.is_error is not model.do(command), (command, reply)
            if command["command"] == "view" and command["path"] in model.files:
                lines = [row.split("\t", 1)[1] for row in reply.text.split("\n")[1:]]
                text = model.files[command["path"]]
                assert "\n".join(lines) == text.removesuffix("\n")
        there = held(tool.folder)
        assert there.pop(".kept") == "k"
        assert there.pop("link").endswith("memories_backup")
        assert there.pop("file.md").endswith("MEMORY.md")
        assert {f"/memories/{name}": text for name, text in there.items()} == model.files
        folders = {f"/memories/{path.relative_to(tool.folder)}" for path in tool.folder.rglob("*") if path.is_dir()}
        assert folders - {"/memories/link"} == model.folders - {"/memories"}
        assert {name: text for name, text in held(workspace).items() if not name.startswith("memories/")} == outside
