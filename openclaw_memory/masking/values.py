"""Tell whether what stands where a secret would is one."""

from __future__ import annotations

import re

from openclaw_memory.masking.kinds import PLACEHOLDER_BEGINS, Kind
from openclaw_memory.masking.shapes import is_placeholder

# fmt: off
NO_PASSWORDS = frozenset({
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
_ADDRESS = re.compile(r"[a-z]+://|www\.|/[\w.-]+/|~/|\.{1,2}/|[\w.+-]+@[\w-]+\.\w+$|[A-Za-z]:\\")
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d")


def is_secret(value: str, kind: Kind, *, explicit: bool) -> bool:
    """Tell whether a value that stands where a secret would is one.

    `explicit`: it stands behind a colon or equals sign, or in quotes; else in a sentence, which may go on otherwise.
    """
    plain = value.lower()
    if plain.startswith(PLACEHOLDER_BEGINS) or plain in NO_PASSWORDS or _ADDRESS.match(value):
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
        return (len(value) >= 4 and odd < len(value)) and (
            (digits > 0 and letters > 0) or (odd > 0 and not _is_plain_word(value)) or _mixed(value)
        )
    if _CODE.match(value) or _MEASURE.fullmatch(value):
        return False
    # Keys and tokens are made by machines: long, and no word.
    return len(value) >= 8 and digits > 0 and letters > 0 and not _is_plain_word(value) and not _is_address(value)


def _is_address(value: str) -> bool:
    """Tell whether a value is an address of something of ours, or a path, and no key."""
    return "/" in value and ("." in value or "#" in value)


def _stands_for_one(value: str) -> bool:
    plain = value.strip("\"'`").lower()
    if plain[:1] in "<{$%[" or set(plain) <= set("*x.•-_") or "your" in plain or "example" in plain:
        return True
    return len(plain) >= 12 and is_placeholder(plain) and not any(map(str.isdigit, plain)) and "_" not in plain


def _is_plain_word(value: str) -> bool:
    """Tell whether a value is words alone, such as `case-sensitive`, `don't`, `e.g.`, `type=`."""
    return re.fullmatch(r"[A-Za-z]+(?:['’.-][A-Za-z]+)*[.=]?", value) is not None


def _mixed(value: str) -> bool:
    """Tell whether capitals stand within a word, as in `CorrectHorseBattery`."""
    return len(value) >= 8 and any(map(str.isupper, value[1:])) and any(map(str.islower, value))
