"""Secrets that are known by their shape alone: the prefixes that their makers gave them.

A shape must be one that nothing else has: git hashes, UUIDs, long numbers and pictures in base64 are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_memory.masking.kinds import Kind

_BEFORE = r"(?<![A-Za-z0-9_/+=-])"
_AFTER = r"(?![A-Za-z0-9_])"

_API_KEYS = (
    r"(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{16,}",  # Stripe
    r"sk-[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, DeepSeek, OpenRouter
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",  # AWS
    r"AIza[A-Za-z0-9_-]{35}",  # Google
    r"LTAI[A-Za-z0-9]{12,26}",  # Alibaba Cloud
    r"AKID[A-Za-z0-9]{32}",  # Tencent Cloud
    r"ALTAK(?:-|[A-Za-z0-9])[A-Za-z0-9]{16,}",  # Baidu
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"key-[0-9a-f]{32}",  # Mailgun
    r"(?:SK|AC)[0-9a-f]{32}",  # Twilio
    r"gsk_[A-Za-z0-9]{32,}",  # Groq
    r"xai-[A-Za-z0-9]{32,}",
    r"pplx-[A-Za-z0-9]{32,}",
    r"nvapi-[A-Za-z0-9_-]{32,}",
    r"tvly-[A-Za-z0-9_-]{20,}",
    r"r8_[A-Za-z0-9]{30,}",  # Replicate
    r"lin_api_[A-Za-z0-9]{30,}",
    r"rubygems_[0-9a-f]{40,}",
    r"GOCSPX-[A-Za-z0-9_-]{20,}",
    r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}",  # Shopify
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",  # Square
    r"[0-9a-f]{32}-us[0-9]{1,2}",  # Mailchimp
)
_TOKENS = (
    r"gh[pousrv]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"gl(?:pat|dt|rt|ft|soat|cbt|ptt|agent)-[A-Za-z0-9_.-]{20,}",
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[A-Za-z0-9-]{20,}",
    r"ya29\.[A-Za-z0-9_-]{20,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JWT
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"dop_v1_[0-9a-f]{64}",
    r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}",  # Notion
    r"dapi[0-9a-f]{32}",
    r"hv[sb]\.[A-Za-z0-9_-]{24,}",
    r"glsa_[A-Za-z0-9_]{32,}",
    r"sntry[su]_[A-Za-z0-9+/=_-]{32,}",
    r"figd_[A-Za-z0-9_-]{30,}",
    r"sbp_[0-9a-f]{40}",
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}",
    r"tskey-[a-z]+-[A-Za-z0-9-]{20,}",
    r"ATATT3[A-Za-z0-9_=-]{60,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",  # Telegram
    r"EAAA[A-Za-z0-9]{40,}",  # Meta
)
_SHAPES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("private key", re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{50,}")),
    ("token", re.compile(r"hooks\.slack\.com/services/(T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,})")),
    ("api key", re.compile(f"{_BEFORE}(?:{'|'.join(_API_KEYS)}){_AFTER}")),
    ("token", re.compile(f"{_BEFORE}(?:{'|'.join(_TOKENS)}){_AFTER}")),
    ("token", re.compile(r"(?i:\bbearer)[ \t]+([A-Za-z0-9_.~+/=-]{16,})")),
    ("password", re.compile(r"(?i:\bauthorization)[\"']?[ \t]*[:=][ \t]*[\"']?(?i:basic)[ \t]+([A-Za-z0-9+/=]{8,})")),
    # `scheme://user:password@host`: the rest of the address is worth keeping.
    (
        "password",
        re.compile(
            r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s:/@\"'<>]{0,100}:([^\s/\"'<>]{3,100})@(?=[^\s@])"
        ),
    ),
    (
        "token",
        re.compile(
            r"(?i:[?&](?:access_token|auth_token|refresh_token|token|api_?key|key|sig|signature|secret|password))="
            r"([A-Za-z0-9_.~%+/=-]{12,})"
        ),
    ),
    ("api key", re.compile(r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})")),
)
_PICTURE = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=\s]{16,}")
_WORDS = re.compile(r"(?:[a-z]+|[0-9]{1,4})(?:[-_.](?:[a-z]+|[0-9]{1,4}))*")

Span = tuple[int, int, Kind]


def by_shape(text: str) -> Iterator[Span]:
    """Find secrets by their shape: where each begins and ends, and what it is."""
    pictures = [match.span() for match in _PICTURE.finditer(text)] if ";base64," in text else []
    for kind, pattern in _SHAPES:
        for match in pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            if any(begin <= start < stop for begin, stop in pictures):
                continue
            if kind != "private key" and is_placeholder(text[start:end]):
                continue
            yield start, end, kind


def is_placeholder(value: str) -> bool:
    """Tell whether a value only stands for one: `sk-your-key-here`, `<password>`, `${TOKEN}`, `xxxxxx`."""
    plain = value.strip("\"'`").lower()
    if plain in _NAMES:
        return True
    if _WORDS.fullmatch(plain) and not any(map(str.isdigit, plain)):
        # Words joined by dashes: a name, and no key. Passwords are looked at by who looks for those.
        return "-" in plain or "_" in plain or any(word in plain for word in _STAND_INS)
    if plain[:1] in "<{$%[" or "${" in plain or "{{" in plain or "..." in plain or "…" in plain:
        return True
    letters = set(plain) - set("-_. ")
    return len(letters) <= 2 or any(word in plain for word in _STAND_INS)


_STAND_INS = ("your", "example", "placeholder", "xxxx", "redacted", "changeme", "dummy", "1234567890abcdef")
"""Parts of values that documentation shows."""

_NAMES = frozenset({"password", "passwd", "pass", "pwd", "secret", "token", "apikey", "api_key"})
"""What stands where a secret would, in the description of a form."""
