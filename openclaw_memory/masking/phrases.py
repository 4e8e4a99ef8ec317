"""Secrets that are known by the words around them: `my password is hunter2`, `密码是 abc12345`, `API_KEY=...`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_memory.masking.kinds import PLACEHOLDER_BEGINS, Kind
from openclaw_memory.masking.shapes import Span, is_placeholder

_PASSWORDS = (
    r"pass[ _-]?(?:word|phrase|code)s?|passwd|\bpwd\b|\bpw\b|\bPIN ?码|\bPIN(?:[ _-]?(?:code|number))?\b"
    r"|(?:recovery|seed) phrase|密码|密碼|口令|助记词"
)
_KEYS = (
    r"(?:api|secret|access|private|signing|encryption|service)[ _-]?keys?(?:[ _-]?id)?|(?:client|app)[ _-]?secret"
    r"|密钥|私钥"
)
_TOKENS = r"(?:access|auth|refresh|bearer|bot|session|api|personal access|security|deploy)?[ _-]?token|令牌"
_NAMES: tuple[tuple[Kind, str], ...] = (
    ("password", rf"(?:{_PASSWORDS})"),
    ("api key", rf"(?:{_KEYS}|(?<![A-Za-z])(?:[A-Za-z0-9]+_)?SECRET)"),
    ("token", rf"(?<![A-Za-z])(?:{_TOKENS})(?![A-Za-z])"),
)

# What may stand between the name and the value. `for the router`, `（路由器）`, and a verb.
_FOR = (
    r"(?:[ \t]*[(（][^()（）\n]{0,30}[)）])?"
    r"(?:[ \t]+(?:for|to|of|on|at|in)[ \t]+(?:(?:the|my|our|his|her)[ \t]+)?[\w.@'’-]+(?:[ \t]+[\w.@'’-]+){0,3}?)?"
)
_SAYS = (
    r"(?:[ \t]*[\"'”’*`]{0,2}[ \t]*(?::=|=>|->|[:：=＝]|→)[ \t]*"
    r"|[ \t]+(?:is|was|are|will be|to|equals|as|should be|must be)"
    r"(?:[ \t]+(?:now|still|currently|always|just|simply))?[ \t]*[:：]?[ \t]+"
    r"|[ \t]*(?:已经|现在|还|都|就|仍然|统一|默认|暂时|先)?[ \t]*"
    r"(?:是|为|叫|改成了?|改为了?|换成了?|设成了?|设为了?|设置成了?|设置为了?|变成了?|更新为|等于|用)"
    r"(?:了)?[ \t]*[:：]?[ \t]*"
    r"|[ \t]*(?=[“「『])"
    r"|(?:(?<=[\u4e00-\u9fff])[ \t]*[,，]?[ \t]*|[ \t]*[,，]?[ \t]+)"
    r"(?=[A-Za-z0-9!@#$%^&*+][^\s\u4e00-\u9fff]*[0-9!@#$%^&*]))"
)
_ENDS = r"\s\"'`“”‘’「」『』，。；、！？（）【】《》,;<>|\u3000\u4e00-\u9fff"
"""What no value goes on over."""
_VALUE = rf"(?P<quote>[\"'`“‘「『]{{0,3}})(?P<value>[^{_ENDS}]{{3,200}})"
_OTHER_VALUE = _VALUE.replace("<quote>", "<other_quote>").replace("<value>", "<other>")
_AFTER_NAME: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?P<name>{name}){_FOR}(?P<says>{_SAYS}){_VALUE}", re.IGNORECASE)) for kind, name in _NAMES
)
_BEFORE_NAME = re.compile(
    # From the beginning of a word on: a picture in base64 is one long word.
    rf"(?<![^{_ENDS}]){_VALUE}[\"'`”’」』]{{0,3}}[ \t]*(?:is|as|was|是|就是|作为?|当)[ \t]*"
    rf"(?:(?:my|the|our|his|her|a|an|new|old|我的?|你的?|他的?|新的?|旧的?|路由器的?|这个|那个)[ \t]*){{0,3}}"
    rf"(?:[\w-]+[ \t]+){{0,2}}?(?:{_PASSWORDS})",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    rf"(?:{_PASSWORDS}){_FOR}[ \t]*(?:from|从|由)[ \t]*{_VALUE}[\"'`”’]{{0,3}}[ \t]*"
    rf"(?:to|改成了?|改为|换成了?|变成)[ \t]*{_OTHER_VALUE}",
    re.IGNORECASE,
)
_IN_BETWEEN = re.compile(r"[\"'`“‘「『]?[ \t]*[:：=][ \t]*[\"'`“‘「『]?")

# fmt: off
_NO_PASSWORDS = frozenset({
    "required", "optional", "wrong", "incorrect", "invalid", "correct", "valid", "too", "not", "never", "always",
    "reset", "changed", "expired", "stored", "saved", "hashed", "encrypted", "the", "that", "this", "what", "which",
    "same", "different", "unknown", "missing", "empty", "blank", "none", "null", "nil", "true", "false", "string",
    "str", "int", "bytes", "text", "hidden", "secret", "secure", "strong", "weak", "long", "short", "simple", "easy",
    "hard", "ready", "set", "sent", "being", "going", "about", "from", "with", "without", "used", "using", "needed",
    "because", "based", "protected", "manager", "policy", "field", "input", "login", "access", "log",
    "undefined", "any", "optional[str]", "str|none", "secretstr", "varchar", "boolean", "number", "see", "unchanged",
    "md5", "sha1", "sha256", "sha-256", "sha512", "bcrypt", "scrypt", "argon2", "argon2id", "aes", "aes256", "aes-256",
    "rsa", "base64", "utf-8", "utf8", "oauth", "oauth2", "totp", "otp", "mfa", "2fa", "sso", "jwt", "keychain",
    "1password", "bitwarden", "keepass", "lastpass", "vault", "env", ".env", "case-sensitive", "at", "least", "more",
    "open", "here", "below", "above", "there", "somewhere", "written", "safe", "okay", "fine", "https", "http",
    "default", "generated", "random", "rotated", "compromised", "leaked", "visible", "masked", "shared", "it", "you",
    "your", "our", "their", "his", "her", "be", "have", "has", "just", "only", "also", "now", "still", "already",
    "done", "for", "and", "but", "or", "if", "when", "where", "how", "why", "who", "in", "on", "of", "to", "me",
    "password", "passwd", "pwd", "passphrase",
    "working", "accepted", "rejected", "lost", "forgotten", "gone", "unique", "important", "sensitive", "private",
    "public", "limited", "available", "disabled", "enabled", "mandatory", "recommended", "longer", "shorter",
})
# fmt: on
_CODE = re.compile(r"[\w.\]]*[(\[{]|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|\$|%[A-Z]|<|process\.|os\.|self\.|input\b|None\b")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_MEASURE = re.compile(
    r"[0-9.,]+(?:k|m|b|%|ms|s|px|gb|mb|kb|bits?|bytes?|chars?|characters?|digits?|tokens?|words?|days?|hours?|years?)?",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(
    r"[ \t]*(?:位|个|字符|次|天|年|小时|分钟|加密|算法|characters|digits|chars|letters|bits|bytes|days|hours|tokens)"
)
_ADDRESS = re.compile(r"[a-z]+://|www\.|/[\w.-]+/|~/|\.{1,2}/|[\w.+-]+@[\w-]+\.\w+$|[A-Za-z]:\\")
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d")
_TRIMMED = ".!?:)]}*_"


def by_phrase(text: str) -> Iterator[Span]:
    """Find secrets by the words around them: where each begins and ends, and what it is."""
    for kind, pattern in _AFTER_NAME:
        for match in pattern.finditer(text):
            explicit = bool(_IN_BETWEEN.fullmatch(match["says"].strip())) or bool(match["quote"])
            span = _span(text, match, "value", kind, explicit)
            if span is not None:
                yield span
    for match in _FROM_TO.finditer(text):
        for group in ("value", "other"):
            if (span := _span(text, match, group, "password", explicit=False)) is not None:
                yield span
    for match in _BEFORE_NAME.finditer(text):
        if (span := _span(text, match, "value", "password", bool(match["quote"]))) is not None:
            yield span


def named(name: str) -> Kind | None:
    """Tell what kind of secret a name, such as the key of a fact, stands for; None when it is none."""
    for kind, pattern in _NAMES:
        if re.search(rf"(?:{pattern})\W*\Z", name, re.IGNORECASE):
            return kind
    return None


def is_secret(value: str, kind: Kind, *, explicit: bool) -> bool:
    """Tell whether a value that stands where a secret would is one.

    `explicit`: it stands behind a colon or equals sign, or in quotes; else in a sentence, which may go on otherwise.
    """
    plain = value.lower()
    if plain.startswith(PLACEHOLDER_BEGINS) or plain in _NO_PASSWORDS or _ADDRESS.match(value):
        return False
    if _stands_for_one(value):
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    odd = len(value) - letters - digits
    if kind == "password":
        if _TIME.match(value) or (odd and _CODE.match(value) and not explicit):
            return False
        if explicit and _CALL.match(value) and letters > digits:
            return False
        if digits == len(value):
            # A PIN, or a code of digits; fewer or more are numbers of something else.
            return 4 <= digits <= 12
        if explicit:
            return len(value) >= 4
        return len(value) >= 4 and (
            (digits > 0 and letters > 0) or (odd > 0 and not _is_plain_word(value)) or _mixed(value)
        )
    if _CODE.match(value) or _MEASURE.fullmatch(value):
        return False
    # Keys and tokens are made by machines: long, and no word.
    return len(value) >= 8 and digits > 0 and letters > 0 and not _is_plain_word(value) and not _is_address(value)


def _is_address(value: str) -> bool:
    """Tell whether a value is an address of something of ours, or a path, and no key."""
    return "/" in value and ("." in value or "#" in value)


def _span(text: str, match: re.Match[str], group: str, kind: Kind, explicit: bool) -> Span | None:
    start, end = match.span(group)
    while end > start and text[end - 1] in _TRIMMED and not (text[end - 1] in "!?*_" and _keeps_end(text[start:end])):
        end -= 1
    value = text[start:end]
    if len(value) < 3 or _FOLLOWS.match(text, end):
        return None
    return (start, end, kind) if is_secret(value, kind, explicit=explicit) else None


def _keeps_end(value: str) -> bool:
    """Tell whether a sign at the end belongs to the value: passwords end so, `hunter2!`."""
    return any(map(str.isdigit, value)) and value[-1] in "!?*_"


def _stands_for_one(value: str) -> bool:
    plain = value.strip("\"'`").lower()
    if plain[:1] in "<{$%[" or set(plain) <= set("*x.•-_") or "your" in plain or "example" in plain:
        return True
    return len(plain) >= 12 and is_placeholder(plain) and not any(map(str.isdigit, plain)) and "_" not in plain


def _is_plain_word(value: str) -> bool:
    """Tell whether a value is words alone, such as `case-sensitive`, `don't`, `e.g.`."""
    return re.fullmatch(r"[A-Za-z]+(?:['’.-][A-Za-z]+)*\.?", value) is not None


def _mixed(value: str) -> bool:
    """Tell whether capitals stand within a word, as in `CorrectHorseBattery`."""
    return len(value) >= 8 and any(map(str.isupper, value[1:])) and any(map(str.islower, value))
