"""The file-memory tool: commands of a model in, what the model gets to read out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread

from contracts.fields import SessionKind
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import Visibility, policies
from openclaw_memory.filetool.commands import Command, Create, Delete, Insert, Rename, StrReplace, View, read_command
from openclaw_memory.filetool.editing import Edited, inserted, replaced, shown_lines, snippet_of
from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.filetool.folder import Folder
from openclaw_memory.filetool.listing import listing
from openclaw_memory.filetool.paths import ROOT, Parts, parts_of
from openclaw_memory.layers import agent_files
from openclaw_memory.markdown.text import clean
from openclaw_memory.masking.kinds import told as told_of
from openclaw_memory.masking.mask import mask
from openclaw_memory.storage.files import Files, LocalFiles

log = logging.getLogger(__name__)

_Change = Callable[[str], Edited]


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back to the model as the tool's result; `is_error` goes into the result's field of that name."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class _Storable:
    """A text as it is stored, and what the model is told of the difference."""

    text: str
    told: str


class FileMemory:
    """The files of `/memories`, which lie in `memories/` of the workspace and are searched like notes.

    Nothing has to run for it, and it works beside a Gateway: search sees a file as soon as the command is answered.

    Parameters: `config`, which says where the workspace is; `session_kind`, on whose behalf the model works: what a
    kind of session may see and write of private notes holds here too; `files`, the operations of the disk.
    """

    def __init__(
        self, config: MemoryConfig, *, session_kind: SessionKind = "primary", files: Files | None = None
    ) -> None:
        self.folder: Path = config.workspace_folder / agent_files.FOLDER
        self._config = config
        self._kind = session_kind
        self._seen: Visibility = policies(config.session)[session_kind]
        self._disk = Folder(self.folder, files or LocalFiles())

    async def handle(self, command: Mapping[str, Any]) -> str:
        """Do a command, as the model's `tool_use` has it in `input`, and give the text of the result.

        Whatever the command says, the answer is a text: refusals and faults of the disk too. Cancelled, it is done or
        not done, never half.
        """
        return (await self.run(command)).text

    async def run(self, command: Mapping[str, Any]) -> Reply:
        """Do a command and tell apart what was done and what was refused."""
        with anyio.CancelScope(shield=True):
            reply = await anyio.to_thread.run_sync(partial(self.run_now, command))
        await anyio.lowlevel.checkpoint_if_cancelled()
        return reply

    def run_now(self, command: Mapping[str, Any]) -> Reply:
        """Do the same for who has no event loop. It waits for the disk."""
        try:
            return Reply(self._do(read_command(command)))
        except CommandRefusedError as refusal:
            return Reply(str(refusal), is_error=True)
        except OSError as error:
            log.warning("a command of the file-memory tool failed: %s", error)
            why = error.strerror or error
            return Reply(f"Error: the disk refuses ({why}); view the path to see how it is now", is_error=True)

    def _do(self, command: Command) -> str:
        self._check_allowed(command)
        match command:
            case View():
                return self._view(command)
            case Create():
                return self._create(command)
            case StrReplace(path=path, old_str=old, new_str=new):
                missing = f"Error: The path {path} does not exist. Please provide a valid path."
                by, old = self._storable(new), clean(old)[0]
                edited = self._edit(parts_of(path), missing, lambda text: replaced(text, old, by.text, path))
                told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
                return told + snippet_of(edited) + by.told
            case Insert(path=path, insert_line=line, insert_text=given):
                missing = f"Error: The path {path} does not exist"
                added = self._storable(given)
                self._edit(parts_of(path), missing, lambda text: inserted(text, line, added.text))
                return f"The file {path} has been edited.{added.told}"
            case Delete():
                return self._delete(command)
            case Rename():
                return self._rename(command)

    def _check_allowed(self, command: Command) -> None:
        if self._seen.search != "all" or not self._seen.notes:
            raise CommandRefusedError(f"Error: {ROOT} is private; a {self._kind} session does not see it")
        if self._seen.writes != "all" and not isinstance(command, View):
            raise CommandRefusedError(f"Error: a {self._kind} session may view {ROOT}, and change nothing in it")

    def _view(self, command: View) -> str:
        parts = parts_of(command.path)
        if self._disk.tree.is_folder(parts):
            # A range is for files; the documentation's own example gives one for a folder, where it changes nothing.
            return listing(parts, self._disk.tree.items(parts))
        if not self._disk.tree.is_file(parts):
            raise CommandRefusedError(f"The path {command.path} does not exist. Please provide a valid path.")
        return shown_lines(self._disk.tree.read(parts).text, command.path, command.view_range)

    def _create(self, command: Create) -> str:
        parts = parts_of(command.path)
        new = self._storable(command.file_text)
        taken = f"Error: File {command.path} already exists"
        if not parts:
            raise CommandRefusedError(taken)
        with self._disk.writing():
            if self._disk.tree.exists(parts) or not self._disk.create(parts, new.text):
                raise CommandRefusedError(taken)
        return f"File created successfully at: {command.path}{new.told}"

    def _storable(self, given: str) -> _Storable:
        """Take out of a text what is not stored: secrets, and what no file can hold."""
        text, lost = clean(given)
        told = [f"{lost} characters that no text file can hold became U+FFFD"] if lost else []
        if self._config.secrets.mask:
            masked = mask(text, self._config.language)
            text = masked.text
            told += [told_of(masked.kinds, self._config.language)] if masked.kinds else []
        return _Storable(text, f" ({'; '.join(told)})" if told else "")

    def _edit(self, parts: Parts, missing: str, change: _Change) -> Edited:
        made: list[Edited] = []

        def text_of(text: str) -> str:
            made.append(change(text))
            return made[-1].text

        with self._disk.writing():
            if not self._disk.tree.is_file(parts):
                raise CommandRefusedError(missing)
            self._disk.change(parts, text_of)
        return made[-1]

    def _delete(self, command: Delete) -> str:
        parts = parts_of(command.path)
        if not parts:
            raise CommandRefusedError(f"Error: Cannot delete the {ROOT} directory itself")
        with self._disk.writing():
            if not self._disk.tree.exists(parts):
                raise CommandRefusedError(f"Error: The path {command.path} does not exist")
            self._disk.delete(parts)
        return f"Successfully deleted {command.path}"

    def _rename(self, command: Rename) -> str:
        old, new = parts_of(command.old_path), parts_of(command.new_path)
        if not old:
            raise CommandRefusedError(f"Error: Cannot rename the {ROOT} directory itself")
        taken = f"Error: The destination {command.new_path} already exists"
        with self._disk.writing():
            if not self._disk.tree.exists(old):
                raise CommandRefusedError(f"Error: The path {command.old_path} does not exist")
            if not new or self._disk.tree.exists(new) or not self._disk.rename(old, new):
                raise CommandRefusedError(taken)
        return f"Successfully renamed {command.old_path} to {command.new_path}"
