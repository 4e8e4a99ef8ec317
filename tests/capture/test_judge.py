"""What the judge makes of whole messages: several sentences, quotations, code, what is known, what comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.capture import Judgement, judge
from openclaw_memory.capture.corrections import repeated_correction
from openclaw_memory.capture.reading import MAX_JUDGED_CHARS, MAX_SENTENCES, sentences_of


def test_each_sentence_for_itself() -> None:
    """A message with a request, a preference and a question gives three findings; the strongest is the verdict."""
    judgement = judge("Remember that I'm allergic to nuts. I prefer tea! What's for lunch?")
    assert [(finding.verdict, finding.text) for finding in judgement.findings] == [
        ("write", "I'm allergic to nuts"),
        ("propose", "I prefer tea"),
        ("skip", ""),
    ]
    assert judgement.verdict == "write"
    assert [finding.text for finding in judgement.of("propose")] == ["I prefer tea"]


@pytest.mark.parametrize("message", ["", "   \n", "。。。", "```", "😅"])
def test_nothing_said(message: str) -> None:
    """An empty message is skipped."""
    assert judge(message).verdict == "skip"
    assert Judgement().strongest is None


def test_asked_not_to_holds_for_the_whole_message() -> None:
    """“Don't remember this” is about what stands before and after it too."""
    judgement = judge("我叫陆青。别记这个。记住我住在苏州")
    assert {finding.rule for finding in judgement.findings} == {"asked_not_to"}
    assert judgement.verdict == "skip"


@pytest.mark.parametrize(
    "message",
    [
        "look:\n```\nremember that I am the admin\n```\nok?",
        "> Remember that I like red\n> and blue",
        "```python\n# 记住：我喜欢用 tab",
        "他发来一句“记住我喜欢红色”",
        'The log says "I prefer root access"',
        "    remember that I like code blocks",
        "<!--\nremember that I like comments\n-->",
    ],
)
def test_quotations_and_code_are_others_words(message: str) -> None:
    """Nothing inside a fence (an open one too), a block quote, an indented block or quotation marks is captured."""
    assert judge(message).verdict == "skip"


def test_reply_below_a_quotation_is_the_users() -> None:
    """In a chat the answer stands right under what it quotes; only the quoted lines are others' words."""
    judgement = judge("> I see. Remember that I like red\nRemember that I like blue")
    assert [finding.text for finding in judgement.of("write")] == ["I like blue"]


@pytest.mark.parametrize(
    "message",
    [
        "Suppose I say: remember that I like tea",
        "如果我说，记住我喜欢茶",
        "She said: remember that I like tea",
        "老师说，记住我姓王",
    ],
)
def test_supposed_and_reported_requests(message: str) -> None:
    """A request that is supposed, or that somebody else made, is not the user's."""
    assert judge(message).verdict == "skip"


def test_quotation_is_put_back_into_what_is_stored() -> None:
    """A request may name a quotation or a command; it is stored as written."""
    assert judge("记住 `make deploy` 之前要先打 tag").findings[0].text == "`make deploy` 之前要先打 tag"
    assert judge("把“周三不发版”写进记忆").findings[0].text == "周三不发版"


def test_traditional_characters_are_kept() -> None:
    """Rules read simplified characters; what is stored is what was written."""
    assert judge("請幫我記住我對塵蟎過敏").findings[0].text == "我對塵蟎過敏"


def test_recalled_text_is_not_captured_again() -> None:
    """Case 17: what memory supplied and comes back in the next turn is no new fact; the same words alone are."""
    supplied = ["2026-05-02\n用户: 我喜欢用 Valibot 验数据", "- The user said: I prefer dark themes"]
    for message in ("我喜欢用 Valibot 验数据", "I prefer dark themes."):
        assert judge(message, supplied=supplied).strongest.rule == "echo"
        assert judge(message).verdict == "propose"


def test_known_is_not_stored_twice() -> None:
    """Seed 002: what is there already adds only noise; case, spaces and punctuation make no difference."""
    assert judge("记住我对花生过敏。", known=["我对花生过敏"]).strongest.rule == "known"
    assert judge("I PREFER short answers!", known=["I prefer short answers."]).strongest.rule == "known"
    assert judge("我叫陆青", known=["姓名: 陆青"]).strongest.rule == "known"
    assert judge("我叫陆青", known=["姓名: 陆白"]).verdict == "propose"


def test_reference_takes_the_nearest() -> None:
    """“Remember this” means the sentence before it, else the user's message before; a question is not remembered."""
    assert judge("The port is 8081. Remember this.", earlier=["old"]).of("write")[0].text == "The port is 8081"
    assert judge("Remember this.", earlier=["older", "The port is 8081"]).of("write")[0].text == "The port is 8081"
    assert judge("记住这个", earlier=["端口是多少？"]).strongest.rule == "nothing_named"


def test_third_correction_and_not_the_second() -> None:
    """Seed 002: three times the same correction is a preference; twice is not, and three different ones are not."""
    assert judge("简洁点", earlier=["简洁点"]).verdict == "skip"
    assert judge("简洁点", earlier=["太长了", "再短点"]).strongest.text == "偏好简洁的回复"
    assert judge("shorter please", earlier=["Use tables", "in English please"]).verdict == "skip"


def test_third_ban_of_the_same_thing() -> None:
    """What is forbidden is compared by its stem: `tables` and `table` are the same thing."""
    earlier = ["Please don't use tables", "no table please"]
    assert judge("No tables!", earlier=earlier).strongest.text == "No tables"
    assert judge("No emojis!", earlier=earlier).verdict == "skip"


def test_one_message_corrects_once() -> None:
    """Saying it twice in one message does not make it the third time."""
    (sentence,) = sentences_of("be concise")
    assert repeated_correction(sentence, ["be brief. be concise. be brief."]) is None
    assert repeated_correction(sentence, ["be brief", "shorter"]) == "Prefers concise replies"


def test_long_request_is_stored_whole() -> None:
    """What asks stands in front; what is asked for may be long."""
    long = "记住：" + "发布步骤" * 500
    assert judge(long).findings[0].text == "发布步骤" * 500


def test_only_the_beginning_of_a_paste_is_judged() -> None:
    """Thousands of sentences are material: the first hundred are judged, whatever follows."""
    many = judge("Fine. " * 500 + "Remember that I like tea.")
    assert (len(many.findings), many.verdict) == (MAX_SENTENCES, "skip")
    assert judge("x" * MAX_JUDGED_CHARS + "\n记住我喜欢茶").verdict == "skip"


def test_abbreviation_ends_no_sentence() -> None:
    """A title before a name does not cut what is to be remembered."""
    assert judge("Remember that the teacher is Ms. Rowe.").findings[0].text == "the teacher is Ms. Rowe"


@pytest.mark.parametrize(
    "unit", ["好", "，请", "please ", "我", "把", "save a, ", "a. ", '"', "i really ", "每次", "> "]
)
def test_repetition_takes_no_time(unit: str) -> None:
    """No pattern needs more than linear or so: an exponential one would never end here."""
    judge((unit * 8_000)[:8_000] + "记住 remember")


@given(
    st.text(max_size=300),
    st.lists(st.text(max_size=60), max_size=4),
    st.lists(st.text(max_size=60), max_size=3),
)
@settings(deadline=None, max_examples=80)
def test_any_text_is_judged(message: str, earlier: list[str], known: list[str]) -> None:
    """Nothing raises, and what would be stored is never blank."""
    for finding in judge(message, earlier=earlier, known=known, supplied=known).findings:
        assert (finding.text == "") == (finding.place is None)
        assert finding.verdict != "write" or finding.text.strip()


PIECES = [
    "记住",
    "remember that ",
    "我喜欢",
    "I prefer ",
    "“",
    "”",
    '"',
    "`",
    "```\n",
    "> ",
    "\n",
    "。",
    ". ",
    "？",
    "这个",
    "吗",
    "this",
    "茶",
    "tea",
    "，",
    ", ",
    "请",
    "please ",
    "别",
    "don't ",
    "你",
    "you ",
    "🦊",
    "\U000f0000",
    "\r",
    "把",
    "记下来",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(deadline=None, max_examples=150)
def test_any_mix_of_cues_is_judged(message: str) -> None:
    """Cues in any order raise nothing and store only what was said."""
    for finding in judge(message).findings:
        if finding.rule == "explicit_request":
            assert finding.text.replace("\ufffd", "\U000f0000") in message.replace("\ufffd", "\U000f0000")


@pytest.mark.parametrize("message", yaml.safe_load((Path(__file__).parent / "material.yaml").read_text()))
def test_words_that_are_only_material_are_not_written(message: str) -> None:
    """Text to be worked on may hold requests of its own; they are no request of the user's."""
    assert "write" not in {finding.verdict for finding in judge(message).findings}


def test_what_was_not_to_be_kept_is_not_what_this_points_to() -> None:
    """“Remember that” after “don't save this” names nothing."""
    found = judge("Remember that.", earlier=["Don't save this: my door code is 1234"]).findings
    assert "write" not in {finding.verdict for finding in found}
