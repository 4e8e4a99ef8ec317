"""The deciding parts of forgetting: comparing texts, cutting lines, redacting, scrubbing the journal."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contracts import Selector
from openclaw_memory.errors import Refused
from openclaw_memory.layers.cutting import cut_lines, cuts_of
from openclaw_memory.layers.day_files import Spoken
from openclaw_memory.layers.state import StateFormat
from openclaw_memory.lifecycle.forgetting.records import scrub_of, scrubbed_line
from openclaw_memory.lifecycle.forgetting.redacting import redacted
from openclaw_memory.lifecycle.forgetting.scanning import Kind, kind_of
from openclaw_memory.lifecycle.forgetting.states import pruned, pruned_state
from openclaw_memory.lifecycle.forgetting.texts import LEAST_CHARS, Needle, folded, significant, unescaped
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN, Tombstones, plan_tombstones
from openclaw_memory.lifecycle.forgetting.wanted import Wanted, wanted_of
from openclaw_memory.markdown.messages import Message
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation, Record, decode, encode

SALT = "0f" * 16

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=2, max_size=20).filter(
    lambda text: significant(text) >= LEAST_CHARS  # a shorter one is refused
)
LINES = st.lists(st.sampled_from(["", "a", "b", "# h", "## g", "- x: 1", "- y", "  more", "a"]), max_size=14)


@given(TEXTS, st.text(max_size=20), st.text(max_size=20))
def test_a_needle_is_found_in_every_form_that_files_give_it(text: str, before: str, after: str) -> None:
    """Plain, as JSON of both kinds, as JSON within JSON, percent-encoded, in UTF-16."""
    needle = Needle.of(text)
    plain = f"{before.encode('utf-8', 'replace').decode()} {text} {after.encode('utf-8', 'replace').decode()}"
    for form in (
        plain,
        json.dumps({"x": plain}, ensure_ascii=False),
        json.dumps({"x": plain}),
        json.dumps(json.dumps({"x": plain})),
        quote(plain),
    ):
        assert needle.in_bytes(form.encode()), form
    assert needle.in_bytes(plain.replace("\0", "").encode("utf-16"))


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_a_needle_at_the_edge_of_what_is_folded_at_a_time() -> None:
    """A long file is looked through in parts; what stands across two of them is found."""
    needle = Needle.of("find me here")
    for at in (199_990, 199_999, 200_000, 399_995):
        assert needle.in_bytes(("x" * at + " find me here " + "y" * 300_000).encode())
    assert not needle.in_bytes(b"find me hexe" * 100_000)


@given(st.lists(st.sampled_from(["one", "two words", "  three", "", "one two"]), max_size=8))
def test_lines_that_say_it_together(lines: list[str]) -> None:
    """Lines are found just where the text as a whole says it."""
    for text in ("one two", "words one", "three one two"):
        needle = Needle.of(text)
        found = needle.lines(lines)
        assert bool(found) == needle.within("\n".join(lines))
        left = [line for number, line in enumerate(lines, start=1) if number not in found]
        assert len(left) < len(lines) or not found


@given(LINES, st.data())
def test_just_the_lines_that_were_named_go(lines: list[str], data: st.DataObject) -> None:
    """What stays is in its order; whatever else goes says the very same under the very same heading."""
    text = "".join(f"{line}\n" for line in lines)
    numbers = [number for number, line in enumerate(lines, start=1) if line]
    assume(numbers)
    start = data.draw(st.sampled_from(numbers))
    end = data.draw(st.integers(start, min(len(lines), start + 2)))
    left = cut_lines(text, cuts_of(text, [(start, end)], SALT), SALT).split("\n")
    run = [line for line in lines[start - 1 : end] if line]
    before, kept = [line for line in lines if line], [line for line in left if line]
    remaining = iter(before)
    assert all(line in remaining for line in kept)
    gone = len(before) - len(kept)
    assert gone >= len(run)
    assert gone % len(run) == 0
    if all("\n".join(lines).count(line) == 1 for line in run):
        assert gone == len(run)


def test_the_same_lines_elsewhere_stay() -> None:
    """Told apart by the heading above them."""
    text = "# A\n\n- k: v\n\n# B\n\n- k: v\n- other\n"
    cuts = cuts_of(text, [(7, 7)], SALT)
    assert cut_lines(text, cuts, SALT) == "# A\n\n- k: v\n\n# B\n\n- other\n"
    # Where somebody has changed the line meanwhile, it is another one.
    assert cut_lines(text.replace("v\n- other", "w\n- other"), cuts, SALT) == text.replace("v\n- other", "w\n- other")


def test_line_ends_and_gaps() -> None:
    text = "one\r\n\r\ntwo\r\n\r\nthree\r\n"
    assert cut_lines(text, cuts_of(text, [(3, 3)], SALT), SALT) == "one\r\n\r\nthree\r\n"
    assert cut_lines("one", cuts_of("one", [(1, 1)], SALT), SALT) == ""


def test_escapes_are_read_in_whatever_depth() -> None:
    assert unescaped("\\u4f60\\\\u597d \\ud83d\\ude00 \\\\\\n.") == "你好 😀  ."


def test_a_line_of_another_program_keeps_its_structure() -> None:
    line = {"type": "message", "id": "secret", "message": {"role": "user", "content": [{"type": "text", "text": "x"}]}}
    assert json.loads(redacted(line, None)) == {
        **line,
        "message": {"role": "user", "content": [{"type": "text", "text": "[forgotten]"}]},
    }
    assert json.loads(redacted(line, lambda text: False)) == line


def test_the_journal_loses_what_is_forgotten_and_nothing_else() -> None:
    """Messages one by one, other operations whole, records only when nothing is left of them."""
    scrub = scrub_of(Wanted(needle=Needle.of("secret")), {"m3"}, {"facts/x.md": ["value"]})
    messages = [{"id": f"m{n}", "content": text, "role": "user"} for n, text in enumerate(["a", "a secret", "b", "c"])]
    kept = [
        Operation("conversations/2026-05-04.md", "append", {"messages": messages}),
        Operation("facts/x.md", "set", {"key": "k", "value": "Value"}),
        Operation("facts/y.md", "set", {"key": "k", "value": "value"}),
        Operation("tasks/active.md", "add", {"task": {"title": "The SECRET"}}),
    ]
    line = scrubbed_line(encode(Record(7, tuple(kept))), scrub)
    assert line is not None
    record = decode(line)
    assert record is not None
    assert [item["id"] for item in record.operations[0].arguments["messages"]] == ["m0", "m2"]
    assert [operation.path for operation in record.operations[1:]] == ["facts/y.md"]
    assert scrubbed_line(encode(Record(8, (kept[3],))), scrub) is None
    other = encode(Record(9, (kept[2],)))
    assert scrubbed_line(other, scrub) is other
    assert scrubbed_line(b"no record\n", scrub) == b"no record\n"


def test_what_waits_in_memory_loses_what_is_forgotten_as_well() -> None:
    """Messages that were not made JSON yet are looked through like those that were."""
    scrub = scrub_of(Wanted(needle=Needle.of("secret")), {"m3"}, {})
    texts = ["a", "a secret", "b", "c"]
    said = [
        Message(f"m{number}", "s1", "user", datetime(2026, 5, 4, tzinfo=UTC), text) for number, text in enumerate(texts)
    ]
    waiting = Operation("conversations/2026-05-04.md", "append", {"messages": Spoken(said)})
    left = scrub(waiting)
    assert left is not None
    assert left.arguments["messages"] == list(Spoken([said[0], said[2]]))
    kept = waiting._replace(arguments={"messages": Spoken([said[0]])})
    assert scrub(kept) is kept
    assert scrub(waiting._replace(arguments={"messages": Spoken([said[3]])})) is None


@pytest.mark.parametrize(
    ("path", "kind", "document"),
    [
        ("conversations/2026-05-04.md", Kind.DOCUMENT, None),
        ("conversations/2026-05-04.md.backup", Kind.COPY, "conversations/2026-05-04.md"),
        ("facts/x.md.corrupt-20260504T000000-2", Kind.COPY, "facts/x.md"),
        (".state/kept/workspace/main/MEMORY.md.recovered-1", Kind.COPY, "workspace/main/MEMORY.md"),
        (
            ".state/kept/workspace/main/memory/HISTORY-2026-04.md.zst.backup",
            Kind.COPY,
            "workspace/main/memory/HISTORY-2026-04.md.zst",
        ),
        (".journal/0000000001.log", Kind.JOURNAL, None),
        (".journal/0000000001.log.corrupt-20260504T000000", Kind.JOURNAL_COPY, None),
        ("main.sqlite-wal", Kind.INDEX, None),
        ("main.index/abc/meta.json", Kind.INDEX, None),
        ("main.vectors", Kind.INDEX, None),
        (".inbox/done/1.json", Kind.INBOX, None),
        (".inbox/new/1.json", Kind.HANDED_IN, None),
        ("facts/.x.md.0123456789ab.tmp", Kind.LEFT_OVER, None),
        ("index.json", Kind.MANIFEST, None),
        ("notes.txt", Kind.STRANGER, None),
    ],
)
def test_what_each_file_is(path: str, kind: Kind, document: str | None) -> None:
    assert kind_of(path, lambda path: path.startswith("conversations/") and path.endswith(".md")) == (kind, document)


def test_state_loses_the_smallest_part_that_says_it() -> None:
    value = {"a": ["secret", "b", {"c": "a secret", "d": None}], "e": 2}
    assert pruned(value, lambda text: "secret" in text) == {"a": ["b", {"d": None}], "e": 2}
    assert pruned("a secret", lambda text: "secret" in text) is None


@pytest.mark.parametrize("word", ["value", "since", "2026", "at", "facts", "user-profile", "0a1b2c3d", "T14:30"])
def test_words_that_hold_the_state_together_are_nobodys(word: str) -> None:
    """Forgetting a word that happens to be the name of a field, a part of a time, a path or a digest breaks nothing."""
    values = {
        "facts/user-profile.md#s/k": {"since": "2026-05-04T14:30:00+08:00", "value": "0a1b2c3d4e5f0a1b"},
        "0a1b2c3d": "2026-05-04T14:30:00+08:00",
        "summaries/daily/2026-05-04.md": {"digest": None, "by": "rules"},
    }
    assert pruned_state(values, Needle.of(word).within) == (values, 0)
    kept, changed = pruned_state({**values, f"facts/x.md#s/{word} of mine": 1}, Needle.of(word).within)
    assert (kept, changed) == (values, 1)


@pytest.mark.parametrize("text", ["我", "x", "!!", "——", "\u200b a"])
def test_a_text_that_stands_everywhere_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"selector\.text: .* at least 2 are needed"):
        wanted_of(Selector(text=text), lambda path: False)


def tombstones_of(*texts: str) -> Tombstones:
    """What is left of texts that were named themselves."""
    draft = Draft({FORGOTTEN: StateFormat()}, {FORGOTTEN: StateFormat().new(FORGOTTEN)})
    for text in texts:
        plan_tombstones(draft, {}, Needle.of(text), datetime(2026, 5, 4, tzinfo=UTC), ())
    return Tombstones(draft.document(FORGOTTEN).values)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.text(max_size=30), st.text(max_size=30))
def test_tombstones_find_a_text_just_where_it_stands(texts: list[str], before: str, after: str) -> None:
    """Within any other text, and nowhere else; and nothing of it can be read in them."""
    forgotten = tombstones_of(*texts)
    for text in texts:
        assert forgotten.known(f"{before} {text} {after}")
    assert forgotten.known(before) == any(Needle.of(text).text in folded(before) for text in texts)


def test_tombstones_are_quick() -> None:
    """Comparing a message with a hundred texts of different lengths takes no longer than with one."""
    forgotten = tombstones_of(*("x" * number + "秘密" for number in range(1, 100)))
    began = time.thread_time()
    for number in range(100):
        assert not forgotten.known(f"message {number} about nothing at all " * 20)
    assert time.thread_time() - began < 3


def test_times_are_within_when_they_are_wholly() -> None:
    noon, one, two = (datetime(2026, 5, 4, hour, tzinfo=UTC) for hour in (12, 13, 14))
    assert Wanted(after=noon).is_within(one, two)
    assert not Wanted(after=one).is_within(one, two)
    assert not Wanted(before=two).is_within(one, two)
    assert not Wanted(after=noon).is_within(None, None)
    assert not Wanted().is_within(one, two)


def test_nothing_here_looks_at_the_disk() -> None:
    """The deciding modules import neither files nor stores."""
    folder = Path(__file__).parents[3] / "openclaw_memory" / "lifecycle" / "forgetting"
    for name in ("choosing", "planning", "redacting", "states", "texts", "tombstones", "units", "wanted"):
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        assert "storage.files" not in text
        assert "storage.store" not in text
