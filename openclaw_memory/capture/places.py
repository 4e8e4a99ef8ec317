"""Where something would be stored: a fact with section and key, an entry of MEMORY.md, the day's log, a task."""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re

from openclaw_memory.capture.reading import has_chinese
from openclaw_memory.capture.verdicts import Place, Rule

_SHORT_LIVED = re.compile(
    r"今天|今晚|今早|明天|后天|这周|本周|这个星期|下周|\b(?:today|tonight|tomorrow|this (?:week|morning|afternoon|evening|weekend))\b|today's",
    re.IGNORECASE,
)
_VALUE = r"(?P<value>[^，,。.]{1,80})"
_ZH_FACTS = (
    (r"^我(?:的名字|的姓名)?(?:叫|名叫|的名字是|的姓名是)(?!做)" + _VALUE + "$", "姓名"),
    (r"^我的名字[是叫]" + _VALUE + "$", "姓名"),
    (r"^(?:以后|请|你|可以|就|都|，|,)*(?:叫|称呼)我" + _VALUE + "$", "称呼"),
    (r"^我(?:现在|目前)?(?:住在?|常住|定居在?)" + _VALUE + "$", "所在地"),
    (r"^我(?:已经|最近|刚)?(?:从[^，,。]{1,8})?搬到了?(?P<value>[^，,。]{1,20}?)了?$", "所在地"),
    (
        r"^我(?:现在)?是(?:一[名个位])?(?P<value>[^，,。]{0,12}(?:师|员|医生|护士|学生|经理|教授|开发者|司机|会计|记者|厨师))$",
        "职业",
    ),
    (r"^我的?(?P<key>最[喜爱]欢?的[^，,。：:\s]{1,10}?)[是叫]\s*" + _VALUE + "$", None),
    (r"^我的(?P<key>[^，,。：:\s]{1,12}?)(?:是|为|叫|[:：])\s*" + _VALUE + "$", None),
)
_EN_FACTS = (
    (r"^my name(?:'s| is) " + _VALUE + "$", "name"),
    (r"^(?:please |you can |just )*call me " + _VALUE + "$", "preferred name"),
    (r"^i (?:currently |now )?live in " + _VALUE + "$", "location"),
    (r"^i(?:'ve| have)? (?:just |recently )?moved (?:from [\w ]+ )?to " + _VALUE + "$", "location"),
    (
        r"^i(?:'m| am) (?:a|an) (?P<value>(?:[\w-]+ ){0,3}[\w-]+(?:er|or|ist|ian|ant|nurse|doctor|chef|student|lawyer))$",
        "job",
    ),
    (r"^i work as (?:a|an) " + _VALUE + "$", "job"),
    (
        r"^my (?P<key>(?:\w+ )?(?:birthday|number|zone|timezone|language|job|title|email|address|role|employer|pronouns|hometown)"
        r"|favou?rite [\w ]{2,30}?)(?:'s| is| are|:) " + _VALUE + "$",
        None,
    ),
)
_FACTS = tuple((re.compile(pattern, re.IGNORECASE), key) for pattern, key in (*_ZH_FACTS, *_EN_FACTS))
_SECTIONS: dict[str, tuple[str, str]] = {
    "about": ("关于用户", "About the user"),
    "preferences": ("偏好", "Preferences"),
    "project": ("项目上下文", "Project context"),
}
"""The three sections of MEMORY.md (seed 002)."""
_FACT_SECTIONS = {"about": ("基本信息", "Basics"), "preferences": ("偏好", "Preferences")}
_LIKES = re.compile(
    r"喜欢|偏好|讨厌|习惯|更愿意|以后|一律|永远|别用|不要用|\b(?:like|prefer|love|hate|favou?rite|always|never|rather|don't)\b",
    re.IGNORECASE,
)
_SELF = re.compile(r"^我(?!们)|我的|\b(?:i|i'm|i've|i'd|my|me)\b", re.IGNORECASE)


def place_of(text: str, rule: Rule, *, is_task: bool = False) -> Place:
    """Say where a text that the rule found would go.

    A reminder is a task; what is about these days goes into the day's log (seed 002: long-term memory is not for what loses
    its meaning in a week); “my key is value” is a fact; everything else is an entry of MEMORY.md in the section of its kind.
    """
    if is_task:
        return Place("task")
    if _SHORT_LIVED.search(text):
        return Place("note")
    chinese = has_chinese(text)
    for pattern, key in _FACTS:
        match = pattern.match(text.strip().rstrip(".。!！"))
        if match:
            name = key or match["key"].strip()
            kind = "preferences" if re.match(r"最[喜爱]|favou?rite", name, re.IGNORECASE) else "about"
            return Place("fact", _FACT_SECTIONS[kind][0 if chinese else 1], name, match["value"].strip())
    return Place("memory", _SECTIONS[_kind(text, rule)][0 if chinese else 1])


def _kind(text: str, rule: Rule) -> str:
    if rule in ("preference", "standing_wish", "repeated_correction"):
        return "preferences"
    if rule == "about_user":
        return "about"
    if rule == "decision":
        return "project"
    if _SELF.search(text):
        return "preferences" if _LIKES.search(text) else "about"
    return "project"
