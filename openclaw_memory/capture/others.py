"""Whether what stands around “my name is ...” gives it to somebody else: a letter, a story, a role that is played."""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re
from collections.abc import Iterable

from openclaw_memory.capture.doubts import is_reported

_LABELS = (
    r"(?:notes?|reminder|please|also|btw|fyi|ps|hi|hey|hello|ok|okay|important|todo|remember|update|correction|edit|first|"
    r"second|finally|and|but|so|well|yes|no|thanks|info|memo|fact|again|listen|look|actually)"
)
"""What may stand before a colon and names nobody."""

_OTHERS = re.compile(
    # Words that somebody else wrote or said, and that are announced.
    r"\b(?:his|her|their|[a-z]+'s)\s+(?:\w+\s+){0,2}?(?:messages?|letters?|e-?mails?|mails?|notes?|texts?|intro(?:duction)?|bio|profile|words?|lines?|quotes?|speech|diary|posts?)\b"
    r"|\b(?:introduce[sd]? (?:himself|herself|themselves)|puts? it|(?:said|says|wrote|writes) (?:he|she|they|the \w+|(?-i:[A-Z]\w+)))\b"
    r"|\b(?:for|on behalf of) (?:my|his|her|our|their) \w+:"
    # A person speaks under their name.
    rf"|^\W*(?!{_LABELS}\b)(?-i:[A-Z][a-z]+)(?: here\b|:)"
    # What is made up.
    r"|\b(?:novels?|screenplay|story|stories|poem|lyrics|characters?|protagonist|hero|heroine|role-?play\w*|pretend\w*|fiction\w*|impersonat\w+|dialogue)\b"
    r"|\b(?:the|a|this) (?:play|script|scene|game)\b|\blet's play\b|\bact as\b"
    r"|自我介绍|介绍(?:了)?自己|留言|来信|(?:的|这封|那封|封)(?:信|邮件|短信)|信(?:里|中|上)|来自.{1,12}(?:邮件|消息|短信)|台词|剧本|小说|故事|诗|歌词"
    r"|主人公|主角|角色|扮演|假装|口吻|语气说|转告|^替(?!我)|(?:他|她|他们|她们|人家)(?:说|写|讲)",
    re.IGNORECASE,
)


def speak(around: Iterable[str]) -> bool:
    """Tell whether somebody else may be the one who says “I”.

    Parameters: `around`, what a message says beside the words that are to be remembered.
    """
    return any(_OTHERS.search(text) is not None or is_reported(text) for text in around)
