"""What has lost its meaning with its day: "today I must finish the login" a week later (seed 002). Pure.

It is found still, a little lower; nothing is ever removed for it.
"""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re
from datetime import datetime, timedelta

from openclaw_memory.markdown.task_words import LABELS, STATES
from openclaw_memory.retrieval.blocks import Block

GRACE = timedelta(days=7)
"""So long after the time that a note speaks of it still means something."""

STALE = 0.7
"""What a score is multiplied with."""

_DAYS = (
    (re.compile(r"下个?(?:周|星期|礼拜)|\bnext week\b", re.IGNORECASE), 14),
    (
        re.compile(
            r"(?:这|本)个?(?:周|星期|礼拜)|周末|\bthis (?:week|weekend)\b|\bby (?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
            re.IGNORECASE,
        ),
        7,
    ),
    (re.compile(r"后天|\bthe day after tomorrow\b", re.IGNORECASE), 2),
    (re.compile(r"明(?:天|日|早|晚)|\btomorrow\b", re.IGNORECASE), 1),
    (
        re.compile(
            r"今(?:天|日|早|晚)|待会儿?|等会儿?|稍后|一会儿|\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|\blater on\b",
            re.IGNORECASE,
        ),
        0,
    ),
)
"""Words for a time that passes, and the days until it is over; the longest first."""

_INTENDED = re.compile(
    r"要(?!求|点|素|是|么|不)|需要|必须|得(?=[去把给做交写买找先赶])|打算|准备|计划|记得|别忘|务必|应该|截止|待办|提醒|尽快|完成(?!了|的|后|度)"
    r"|\b(?:need(?:s)? to|have to|has to|must|going to|will|plan(?:s|ning)? to|to-?do|remember to|don't forget|should|due|deadline|let's|want(?:s)? to|finish|remind)\b"
    r"|^\W*\[ \]",
    re.IGNORECASE | re.MULTILINE,
)
_DONE = re.compile(
    r"(?:已经?|都)(?:完成|做完|搞定|解决|交|买|写)|完成了|做完了|搞定了|做好了|\[[xX]\]|✅|\b(?:done|finished|completed)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"从(?:今天|现在|今|此)(?:开始|起|以后)|每(?:天|周|日)|\bfrom (?:today|now|tonight) on(?:wards?)?\b|\bevery ?day\b|\bas of today\b",
    re.IGNORECASE,
)
_EXPIRED = re.compile(
    "^[ \t]*[-*+][ \t]*(?:"
    + "|".join(re.escape(labels["state"]) for labels in LABELS.values())
    + ")[ \t]*[:：][ \t]*(?:"
    + "|".join(re.escape(states["expired"]) for states in STATES.values())
    + r")\b",
    re.IGNORECASE | re.MULTILINE,
)


def days_meant(text: str) -> int | None:
    """Tell in how many days what a note intends is over; None where it intends nothing for a time that passes."""
    if _LASTING.search(text) or _DONE.search(text) or not _INTENDED.search(text):
        return None
    return next((days for pattern, days in _DAYS if pattern.search(text)), None)


def is_stale(block: Block, now: datetime) -> bool:
    """Tell whether a note's intention is a week behind, or a task has expired."""
    if block.layer == "task":
        return _EXPIRED.search(block.text) is not None
    if block.layer != "note" or block.time is None:
        return False
    if now - block.time <= GRACE:
        return False
    days = days_meant(block.text)
    return days is not None and now - block.time > GRACE + timedelta(days=days)
