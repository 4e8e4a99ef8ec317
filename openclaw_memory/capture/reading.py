"""Take a message apart: what is the user's own prose, and where its sentences are."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from markdown_it import MarkdownIt

from openclaw_memory.capture.cued import small

MAX_JUDGED_CHARS = 8_000
"""Characters of a message that are judged, from its beginning: what is longer is material, not talk."""
MAX_SENTENCES = 100
"""Sentences of a message that are judged, from its beginning."""
MAX_STATEMENT_CHARS = 600
"""A sentence longer than this is material, not a statement; what asks for it to be remembered stands in front."""

_HOLDER = 0xF0000
"""First of the private characters that stand for quotes while the rules look at a sentence."""
_MOST_HOLDERS = 4_000
HOLDERS = f"{chr(_HOLDER)}-{chr(_HOLDER + _MOST_HOLDERS)}"
"""They as a range of a character class."""
_HOLDERS = re.compile(f"[{HOLDERS}]")
_QUOTED = re.compile(r'`[^`\n]+`|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|"[^"\n]*"|„[^“\n]*“|«[^»\n]*»')
_END = re.compile(r"[。！？!?；;]\s*|[.](?:\s+|$)|\n+|~(?!\n)\s+")
"""The last character of a sentence, and what stands between it and the next."""
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|approx)|\b\w)\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION = 12
_BULLET = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?")
_SAYS = re.compile(r"[^\W_]")
_SILENT = re.compile(r"[\W_]+")
_HAN = re.compile("[\u3400-\u9fff]")
_TRADITIONAL = (
    "記請別歡習慣現這個來說話嗎麼樣誰幾為會應該從後還們對過決換錄寫進憶討厭愛養幫"
    "時區職業師員學護醫統總題覺點單讓開給遠難倆間將結檔專項圖臨暫絕處邊許東無須頭"
)
_SIMPLE = str.maketrans(
    _TRADITIONAL,
    "记请别欢习惯现这个来说话吗么样谁几为会应该从后还们对过决换录写进忆讨厌爱养帮时区职业师员学护医统总题觉点单让开给远难俩间将结档专项图临暂绝处边许东无须头",
)
_HAS_TRADITIONAL = re.compile(f"[{_TRADITIONAL}]")
_APOSTROPHES = re.compile(r"(?<=\w)[’ʼ](?=\w)")
_BLOCK_MARKS = ("`", "~", "<", ">", "\t", "    ")
"""Code and quotations hold one of these; most messages need no parser."""
_PARSER = MarkdownIt("commonmark").disable("inline")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence for the rules to look at.

    `text` has each quotation and each piece of code replaced by one character, so that no rule matches inside, and
    traditional characters by simple ones; `original` is the sentence as written, and `whole` gives back what stands
    behind a part of `text`.
    """

    text: str
    original: str
    quotes: tuple[str, ...]

    def whole(self, part: str) -> str:
        """Give the words behind a part of `text`, as the user wrote them."""
        at = self.text.find(part)
        raw = self.original[at : at + len(part)] if at >= 0 else part
        return restore(raw, self.quotes) if self.quotes else raw


def sentences_of(message: str) -> list[Sentence]:
    """Split a message into sentences, without code blocks and without block quotes (others' words)."""
    prose = _with_apostrophes(_prose(message[:MAX_JUDGED_CHARS]))
    quotes: list[str] = []

    def hold(match: re.Match[str]) -> str:
        quotes.append(match.group())
        return chr(_HOLDER + len(quotes) - 1)

    masked = _QUOTED.sub(hold, prose)
    sentences: list[Sentence] = []
    for line in _split(masked):
        text = _BULLET.sub("", line, count=1).strip()
        if text and len(sentences) < MAX_SENTENCES:
            sentences.append(Sentence(_simple(text), text, tuple(quotes)))
    return sentences


def letters_of(message: str) -> str:
    """Give a message in small letters, as the rules read them: what stands in no part of it stands in no sentence."""
    return small(message if message.isascii() else _simple(_with_apostrophes(message)))


def _with_apostrophes(text: str) -> str:
    # The apostrophe of a contraction is no quotation mark.
    return text if text.isascii() else _APOSTROPHES.sub("'", _HOLDERS.sub("\ufffd", text))


def _simple(text: str) -> str:
    return text.translate(_SIMPLE) if _HAS_TRADITIONAL.search(text) else text


def restore(text: str, quotes: tuple[str, ...]) -> str:
    """Put the quotations back."""
    return _HOLDERS.sub(lambda match: quotes[ord(match.group()) - _HOLDER], text)


def unquoted(text: str) -> str:
    """Take the quotation marks off a text that is one quotation."""
    return text[1:-1].strip() if _QUOTED.fullmatch(text) else text


def is_quote(text: str) -> bool:
    """Tell whether nothing of a sentence is left but quotations."""
    return _SAYS.search(text if text.isascii() else _HOLDERS.sub("", text)) is None


def fold(text: str) -> str:
    """Give a text without case, punctuation and white space, for comparing."""
    return _SILENT.sub("", unicodedata.normalize("NFKC", text).casefold())


def has_chinese(text: str) -> bool:
    """Tell whether there is a Chinese character in a text."""
    return not text.isascii() and _HAN.search(text) is not None


def _prose(message: str) -> str:
    """Leave out code blocks and block quotes, line by line, as CommonMark sees them."""
    if not any(mark in message for mark in _BLOCK_MARKS):
        return message
    lines = message.split("\n")
    # The parser reads carriage returns as line ends of their own; lines are counted as it does.
    for token in _PARSER.parse(message.replace("\r", " ")):
        if token.map and token.type in ("fence", "code_block", "blockquote_open", "html_block"):
            for number in range(token.map[0], min(token.map[1], len(lines))):
                # In a chat the answer stands right under what it quotes; CommonMark takes it for more of the quotation.
                if token.type != "blockquote_open" or lines[number].lstrip().startswith(">"):
                    lines[number] = ""
    return "\n".join(lines)


def _split(text: str) -> list[str]:
    pieces, start = [], 0
    for match in _END.finditer(text):
        between = match.group()
        end = match.start()
        if not between.startswith("\n"):
            between, end = between[1:], end + 1
        before = text[max(start, end - _LONGEST_ABBREVIATION) : end]
        if between and "\n" not in between and _ABBREVIATION.search(before):
            continue
        pieces.append(text[start:end])
        start = match.end()
    return [*pieces, text[start:]]
