"""Explicit requests to remember something, in Chinese (seed 002, “主动要求”; seed 004 section 2.2)."""

from __future__ import annotations

import re

from openclaw_memory.capture.clauses import MARK, START, Request, trim
from openclaw_memory.capture.cued import cued, small

_LEAD = (
    r"(?:请|麻烦|拜托|帮我|帮忙|帮|你们|你|您|要|得|务必|千万|一定|永远|另外|顺便|以后|今后|从现在起|都|也|还有|再|给我|替我|"
    r"好的|好|嗯|嘿|那么|那|可以|能不能|能否|可不可以|能|我?希望|我(?=(?:想|要|需要)(?:让|请)?你)|想(?=让|请|你)|需要|让|"
    r"对了|先|最好|必须|应该|就|现在|[，,\s])*+"
)
_REMEMBER = (
    r"(?:记住|记得|记好|记牢|牢记|谨记|铭记|记下来|记下|记一下|记着|记录(?:一下|下来|下)(?=\W|$)|"
    r"别忘记|别忘|不要忘记|不要忘|勿忘)"
)
_MEMORY = (
    r"(?:写|存|加|记|放|保存|添加|收)(?:进|到|入)\s*(?:你的|我的|长期|永久)*+\s*"
    r"(?:记忆|MEMORY\.md)(?:库|文件)?\s*(?:里面|里|中)?"
)
_REFERENCE = (
    r"(?:(?:这|那|上面|上述|以上|刚才|刚刚|前面)"
    r"(?:一点|一条|些|句话|句|件事|个|条|点|事|内容|信息|这条|这个|这些)*+"
    r"(?:我?(?:刚才|刚刚)?(?:说|讲|提到|告诉你)的?(?:话|内容|事|那些|这些)?)?"
    r"|我(?:刚才|刚刚|上面)?(?:说|讲)的(?:话|内容|这些)?|它|下面这条)"
)
_REQUEST = cued(
    "记|忘|memory.md",
    rf"{START}{_LEAD}(?:{_REMEMBER}|{_MEMORY})(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TAKE = cued(
    "记|忘|memory.md|存一下|存下来",
    rf"{START}{_LEAD}(?:把|将)(?P<object>.{{1,300}}?)(?:都|也|给我|帮我|一起)*"
    rf"(?:(?P<remember>{_REMEMBER}|{_MEMORY})|存一下|存下来|保存一下|保存下来)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_THIS = cued(
    "记|忘",
    rf"{START}(?P<object>{_REFERENCE})(?:也|都|要|请|你|帮我|给我|得|一定|务必|\s)*+{_REMEMBER}(?P<rest>.*)$",
    re.DOTALL,
)
_TASK = cued("提醒我", rf"{START}{_LEAD}提醒我(?P<rest>.{{2,}})$", re.DOTALL)
_WHENEVER = cued(
    "记得|记住|别忘|不要忘",
    r"^(?:(?:以后|今后|每次)?[^，,。]{1,12}(?:的时候|时候|时|之前|前|之后))"
    r"(?:都|要|请|一定|务必|[，,\s])*(?:记得|记住|别忘了?|不要忘了?).{2,}$",
    re.DOTALL,
)
"""“When you do this, remember to do that”: the condition belongs to what is remembered."""
_LINK = re.compile(r"^(?:了|啊|哦|喔|呀|吧|噢|哈|[：:，,、\s])+")
_ONLY_REFERENCE = re.compile(rf"^{MARK}*(?:{_REFERENCE})?(?:吧|哦|啊|呀|了|啦|哈|谢谢|好吗|吗|一下|{MARK})*$")
_ASKS = re.compile(r"多少|什么|谁|哪|几|怎么|怎样|如何|为什么|是不是|[吗么]\W*$")
_WELL_WISHING = re.compile(r"吃饭|睡觉|休息|喝水|带伞|保暖|早点|注意身体|穿")
_PERSONAL = re.compile(r"我|咱|以后|每次|每当|一律")
_FILES = re.compile(r"文件|代码|图|表格|结果|截图|配置|数据")

CUED = (_REQUEST, _TAKE, _THIS, _TASK, _WHENEVER)
"""Every request matches one of these."""


def find_chinese(text: str) -> Request | None:
    """Find a request in a sentence; None when there is none."""
    letters = small(text)
    if match := _TASK.match(text, letters):
        return Request(trim(match["rest"]), trim(match["before"]), is_task=True)
    if (match := _WHENEVER.match(text, letters)) and _PERSONAL.search(text) and not _ASKS.search(text):
        return Request(trim(text), "")
    if match := _TAKE.match(text, letters):
        return _taken(match)
    if match := _THIS.match(text, letters):
        content = _LINK.sub("", match["rest"])
        if content.startswith("的") or _ASKS.search(content):
            return None
        return Request("" if _ONLY_REFERENCE.match(content) else trim(content), trim(match["before"]))
    match = _REQUEST.match(text, letters)
    return None if match is None else _told(text, match)


def _taken(match: re.Match[str]) -> Request | None:
    """Read “把 X 记下来：Y”: Y where there is one, else X."""
    content, named = _LINK.sub("", match["rest"]), match["object"]
    if match["remember"] is None and (_FILES.search(named) or not _PERSONAL.search(named)):
        return None  # “Save the result” is about a file.
    if _ONLY_REFERENCE.match(content):
        content = "" if _ONLY_REFERENCE.match(named) else named
    return Request(trim(content), trim(match["before"]))


def _told(text: str, match: re.Match[str]) -> Request | None:
    rest = match["rest"]
    content = _LINK.sub("", rest)
    recalls = "记得" in text
    if _ONLY_REFERENCE.match(content):
        # “你记得吗” asks whether, it does not tell.
        return None if recalls and re.search(r"吗|[?？]", text) else Request("", trim(match["before"]))
    if rest.startswith("的") or _ASKS.search(content) or (recalls and text.rstrip().endswith(("?", "？"))):
        return None
    if recalls and (_WELL_WISHING.search(content) or not _PERSONAL.search(content)):
        return None
    return Request(trim(content), trim(match["before"]))
