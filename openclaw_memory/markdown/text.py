"""Characters, lines and encodings: what every other format here rests on."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

BOM = "\ufeff"

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x00\ud800-\udfff]")
_GB18030_SHARE = 0.7
"""Least share of everyday characters among the non-ASCII ones of a text that is taken for GB18030. Text of people has
nearly 1; bytes at random, which this encoding seldom refuses, have 0.3."""
_SAMPLE_CHARS = 65_536
"""How much of a text is looked at to tell whether it is one."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file. Without a `problem`, `encode(text, encoding)` gives back the very bytes."""

    text: str
    encoding: str
    problem: str | None


def clean(text: str) -> tuple[str, int]:
    """Replace what no file can hold: NUL and lone surrogates become U+FFFD.

    Two surrogates that form a pair are joined to the character that they stand for, which loses nothing.

    Args:
        text: Any string, as it came from outside.

    Returns:
        The text, and how many characters were replaced.
    """
    # Most texts are well, and every message waits for this.
    if "\x00" not in text and (text.isascii() or _is_encodable(text)):
        return text, 0
    lost = 0

    def repair(match: re.Match[str]) -> str:
        nonlocal lost
        found = match.group()
        if len(found) == 2:
            return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        lost += 1
        return "\ufffd"

    return _UNSTORABLE.sub(repair, text), lost


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def split_lines(text: str) -> list[str]:
    r"""Split into lines that keep their ends; a line ends at `\n` only (`str.splitlines` knows a dozen other ends)."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    if last:
        lines.append(last)
    return lines


def newline_of(text: str) -> str:
    r"""Tell which line end prevails, `\n` or `\r\n`; a text without lines has `\n`."""
    # One character is found much faster than two, and a file of megabytes is asked each time it is written.
    crlf = text.count("\r\n") if "\r" in text else 0
    if not crlf:
        return "\n"
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def end_of(line: str, default: str) -> str:
    r"""Return the end of one line: `\r\n`, `\n`, or the default where the line has none."""
    if line.endswith("\r\n"):
        return "\r\n"
    return "\n" if line.endswith("\n") else default


def without_end(line: str) -> str:
    """Return one line without its end."""
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line


def decode(data: bytes) -> Decoded:
    """Decode a file: UTF-8, UTF-16 that begins with a BOM, or GB18030.

    The last two are what an editor makes of a file when a person says so: an edit, not damage. A BOM stays in the
    text. Where there is a `problem`, the text is what can be read, with U+FFFD for the rest.

    Args:
        data: All bytes of the file.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_utf16(data)
    try:
        return Decoded(text := data.decode("utf-8"), "utf-8", _nul_problem(text))
    except UnicodeDecodeError as error:
        problem = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8 ({error.reason})"
        readable = data.decode("utf-8", "replace")
        if error.reason != "unexpected end of data" and not _mostly_utf8(readable):
            chinese = _decode_gb18030(data)
            if chinese is not None:
                return Decoded(chinese, "gb18030", None)
        return Decoded(readable, "utf-8", problem)


def encode(text: str, encoding: str) -> bytes:
    """Encode a text as `decode` found it.

    Args:
        text: Text that `clean` has gone over.
        encoding: `Decoded.encoding`.

    Raises:
        UnicodeEncodeError: The text holds a lone surrogate.
    """
    return text.encode(encoding)


def _decode_utf16(data: bytes) -> Decoded:
    encoding = "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    try:
        return Decoded(text := data.decode(encoding), encoding, _nul_problem(text))
    except UnicodeDecodeError as error:
        problem = f"bytes at offset {error.start} are not UTF-16 ({error.reason})"
        return Decoded(data.decode(encoding, "replace"), encoding, problem)


def _nul_problem(text: str) -> str | None:
    """Say where a NUL is: files hold one only after a crash of the file system, or when they are no text."""
    at = text.find("\x00")
    return None if at < 0 else f"character {at} is NUL: not a text file, or one that was only partly written"


def _mostly_utf8(readable: str) -> bool:
    """Tell UTF-8 with damage from another encoding: of its non-ASCII characters, more are intact than broken."""
    broken = readable.count("\ufffd")
    intact = sum(map("\x7f".__lt__, readable)) - broken
    return intact > broken


def _decode_gb18030(data: bytes) -> str | None:
    """Decode GB18030, or return None where the result is hardly what a person wrote."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return None
    if text.encode("gb18030") != data:
        return None
    sample = text[:_SAMPLE_CHARS]
    foreign = [char for char in sample if char > "\x7f"]
    everyday = len("".join(foreign).encode("gb2312", "ignore").decode("gb2312"))
    odd = any(unicodedata.category(char) in ("Cc", "Cn", "Co") and char not in "\t\n\r\f" for char in sample)
    return None if odd or everyday < _GB18030_SHARE * len(foreign) else text
