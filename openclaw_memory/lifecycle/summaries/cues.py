"""What a sentence is about, as far as its words tell: something to be done, a decision, a fact worth keeping."""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re

_TODO = re.compile(
    r"待办|要做|需要(?!的是)|记得|别忘|务必|尽快|下一步|回头|等会|还没|尚未|还要|得去|打算|计划|明天要|下周要|截止|TODO|FIXME"
    r"|\b(?:to-?do|need(?:s)? to|have to|has to|remember to|don't forget|must|next step|deadline|due (?:on|by)|follow up|remind me"
    r"|(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to| plan to)|planning to|let's)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?:已经|已|都)(?:完成|做完|搞定|修复|解决)|完成了|做完了|搞定了|修好了|\b(?:done|finished|completed|fixed|solved)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"决定|确定(?!性)|选择|选了|改用|采用|换成|定为|同意|达成|结论|方案是|原因是|错误原因|修复方法"
    r"|\b(?:decided?|chose|chosen|agreed|settled on|switch(?:ed)? to|going with|will use|conclusion|root cause|because of|turns out)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"(?:我|用户|我们|他|她)(?:的|叫|是|在|有|住|喜欢|讨厌|偏好|习惯|不喜欢|会|用)|版本|地址|电话|邮箱|生日|名字|密码|端口|路径|每[天周月年]|总是|从不"
    r"|\b(?:my|our|his|her) \w+(?: \w+)? (?:is|are|was|were|has)\b|\b(?:i|we) (?:am|are|have|had|live|work|prefer|like|love|hate|use|own|got|just|started|joined|bought|went|met|made|took|saw)\b"
    r"|\bversion\b|\b(?:always|never|every (?:day|week|month|year))\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢)\W*$")


def is_todo(sentence: str) -> bool:
    """Tell whether a sentence speaks of something that is to be done, and is no question."""
    return _TODO.search(sentence) is not None and not is_question(sentence) and _DONE.search(sentence) is None


def is_decision(sentence: str) -> bool:
    """Tell whether a sentence tells what was decided, or why something is as it is."""
    return _DECIDED.search(sentence) is not None and not is_question(sentence)


def is_fact(sentence: str) -> bool:
    """Tell whether a sentence tells something of a person or a thing that may be asked for later."""
    return _FACT.search(sentence) is not None and not is_question(sentence)


def is_question(sentence: str) -> bool:
    """Tell whether a sentence asks."""
    return _QUESTION.search(sentence) is not None
