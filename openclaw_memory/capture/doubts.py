"""Reasons not to take a sentence at its word: questions, others' words, suppositions, for this once, hedges."""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re

from openclaw_memory.capture.cued import cued

_NOT_TO = cued(
    # What is not to be kept is named by one of these.
    "记|存|remember|memori|save|store|record|keep|note|write down|log|forget ",
    r"(?:别|不要|不用|无需|不必|不需要|甭|请勿)(?:再)?(?:把.{1,20}?|给我|帮我)?"
    r"(?:记(?!得|错|混|仇|恨|忆)|存(?!在)|保存|记录|写进记忆|写到记忆)"
    r"|\b(?:don't|do not|never|needn't|no need to|don't need to|do not need to|don't have to|shouldn't|please not)\s+"
    r"(?:\w+\s+)?(?:remember|memori[sz]e|save|store|record|keep|note|write down|log)\s+(?:this|that|it|any|what|these|the|my)\b"
    r"|\boff the record\b|\bforget (?:that|what) i (?:just )?said\b",
)
_REPORTED = re.compile(
    r"(?:他|她|他们|她们|它|别人|人家|有人|老师|老板|同事|朋友|客户|医生|妈妈?|爸爸?|书|小说|电影|歌词|文章|主人公|新闻|大家)"
    r"[^，,。]{0,8}?(?:说|讲|写|问|叫|让|要求|告诉|提到)"
    r"|\b(?!i\b|we\b)(?:\w+)\s+(?:said|says|told|tells|asked|asks|wrote|writes|claims?|claimed|mentioned)\b",
    re.IGNORECASE,
)
_ZH_QUESTION = re.compile(
    r"吗|[呢么]\W*$|什么|怎么|怎样|如何|为什么|为何|谁|哪|多少|几(?:个|点|号|时|天|岁)|是不是|有没有|能不能|可不可以|难道|是否|[?？]\W*$"
)
_EN_QUESTION = re.compile(
    r"\?\W*$|^\W*(?:(?:and|so|but|well|ok|hey)\W+)*(?:what|who|whom|whose|why|how|where|which|since when|do|does|did|is|are|am|was|"
    r"were|can|could|would|will|should|shall|may|have|has|had)\b(?!n't use|n't)"
    r"|^\W*(?:i wonder|i'd like to know|i want to know|tell me|i don't know)\b",
    re.IGNORECASE,
)
_ZH_WONDER = re.compile(r"我想知道|我不知道|想问")
_HYPOTHETICAL = re.compile(
    r"^\W*(?:如果|假如|假设|要是|倘若|万一|若|假使|比如|例如|就当)|的话"
    r"|^\W*(?:(?:and|so|but|well)\W+)*(?:if|suppose|supposing|imagine|assuming|assume|pretend|what if|let's say|say i|e\.g|for example)\b",
    re.IGNORECASE,
)
_PROJECT = cued(
    "项目|仓库|团队|代码库|工程|project|repo|codebase|team",
    r"(?:这个|本|该)(?:项目|仓库|团队|代码库|工程)|\b(?:in |for )?(?:this|our) (?:project|repo|repository|codebase|team)\b",
)
_SELF = cued("我这", r"(?<=我)这个?人")
_LASTING = cued(
    "从|from |as of today",
    r"从(?:今天|现在|今|此)(?:开始|起|以后|往后)?|从今以后|\bfrom (?:today|now|tonight) on(?:wards?)?\b|\bas of today\b",
)
_ONCE = cued(
    "这|那|第|先|次|今|明天|昨|刚|暂时|临时|待会|等会|周末"
    "|this|that|these|those|once|now|today|moment|the time being|tonight|tomorrow|yesterday|temporarily|last "
    "|function|paragraph|file|picture|image|sentence|answer|line|variable|example|table",
    r"这次|这一次|这回|这一回|本次|此次|今天|今晚|今早|今日|明天|昨天|昨晚|刚才|刚刚|暂时|临时|目前先|^先|[，,]先|待会|等会|周末"
    r"|(?:这|那)(?:一|两|几)?(?:个|段|句|张|份|行|篇|条|里|种|些|套|部分)|第[一二三四五六七八九十\d]+(?:段|个|行|页|章|句)"
    r"|\b(?:just |only )?(?:this|that) (?:once|time)\b|\bfor (?:once|now|today|the moment|a moment|the time being)\b|\btoday\b|\btonight\b"
    r"|\btomorrow\b|\byesterday\b|\btemporarily\b|\bright now\b|\bat the moment\b|\blast (?:night|week|month|year|time)\b"
    r"|\bthis (?:one|week|morning|afternoon|evening|weekend)\b|\b(?:in|for|on|with|use|using|to|from)\s+(?:this|that|these|those)\b"
    r"|\b(?:the|this|that) (?:\w+ )?(?:function|paragraph|file|picture|image|sentence|answer|line|variable|example|table)\b",
)
HEDGE = cued(
    "可能|也许|或许|大概|好像|似乎|说不定|估计|确定|应该|考虑|觉得|感觉|我想|没准|大约会"
    "|maybe|perhaps|possibly|probably|likely|i think|i guess|i suppose|i believe|it seems|not sure|kind of|sort of|might|may",
    r"可能(?:会)?|也许|或许|大概(?:会)?|好像(?:是)?|似乎|说不定|估计|我?不太?确定|应该(?:是)?(?=.*吧)|(?:正在|在)?考虑|我?觉得|我?感觉(?=我|是|好像)|我想(?=我)|没准|大约会|(?<=也许我们)应该|或许"
    r"|\b(?:maybe|perhaps|possibly|probably|likely|i think(?! about| of)|i guess|i suppose|i believe(?! in)|it seems|i'm not sure(?:,? but)?|not sure(?:,? but)?|"
    r"kind of|sort of)\b,?|\b(?:might|(?-i:may))\b",
)
PLANNING = cued(
    "thinking |considering|debating|leaning toward|考虑|犹豫|纠结",
    r"\b(?:i'm|i am|we're|we are) (?:thinking (?:of|about)|considering|debating|leaning towards?) "
    r"(?:moving|switching|changing|quitting|giving up|stopping|migrating|dropping|using|going (?:vegan|vegetarian))\b"
    r"|(?:我|我们)(?:在|正在|还在)?(?:考虑|犹豫|纠结)(?:要不要|是否|着)?(?:换|改|搬|辞|戒|转|用)",
)


def asks_not_to(text: str) -> bool:
    """Tell whether the user asks that something not be remembered."""
    return _NOT_TO.search(text) is not None


def is_reported(text: str) -> bool:
    """Tell whether the sentence gives somebody else's words."""
    return _REPORTED.search(text) is not None


def is_question(text: str) -> bool:
    """Tell whether the sentence asks."""
    return any(pattern.search(text) for pattern in (_ZH_QUESTION, _EN_QUESTION, _ZH_WONDER))


def is_hypothetical(text: str) -> bool:
    """Tell whether the sentence supposes."""
    return _HYPOTHETICAL.search(text) is not None


def is_for_once(text: str) -> bool:
    """Tell whether the sentence is about this time or this thing only (seed 002, “一次性指令”)."""
    return _ONCE.search(_SELF.sub("", _PROJECT.sub("", _LASTING.sub("", text)))) is not None


def without_hedges(text: str) -> str | None:
    """Give the sentence without the words that make it unsure; None when there are none."""
    bare = HEDGE.sub(" ", text)
    if bare == text:
        return None
    return re.sub(r"\s{2,}", " ", re.sub(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])", "", bare)).strip(" ,，")


def is_planning(text: str) -> bool:
    """Tell whether the user is still making up their mind."""
    return PLANNING.search(text) is not None


_TEXT_TASK = re.compile(
    r"\b(?:translat\w+|proofread\w*|summari[sz]\w+|paraphras\w+|rewrite|rephrase|fix this|write (?:a|an|the|me)\b)"
    r"|翻译|润色|改写|总结|校对|写一|写个|写封|写篇",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\b(?:can|could|would|will|please)\b|能|可以|可否|好吗|行吗|吧", re.IGNORECASE)
_ASKS_BACK = re.compile(r"\b(?:remember|recall)\s+(?:that time|when)\b", re.IGNORECASE)
_THIS_ONCE = re.compile(
    r"\b(?:this session only|just this once|only (?:for )?this (?:once|time|session))\b|仅限?这次|只(?:是|限)?这(?:次|一次)"
)
_NOTHING = re.compile(r"\b(?:remember|note|record|store|save)\s+(?:nothing|none)\b", re.IGNORECASE)


def is_material(text: str, lead: str, before: str) -> bool:
    """Tell whether a request may be somebody else's words, a memory shared, or for this once: then it is asked about.

    Parameters: `text` of the sentence; `lead`, what it says in front of the request; `before`, the sentence before.
    """
    lead = lead.strip()
    if (
        text.lstrip().startswith(("#", "//", "/*"))
        or lead.endswith((":", "：", "#", "//"))
        or _TEXT_TASK.search(lead)
        or _TEXT_TASK.search(before)
    ):
        return True
    if _THIS_ONCE.search(text) or _NOTHING.search(text) or _ASKS_BACK.search(text):
        return True
    return text.rstrip().endswith(("?", "？")) and not _POLITE.search(text)
