"""A quick look: may there be any secret in a text? Most texts need no further reading; this costs microseconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from openclaw_memory.glance import glance

# fmt: off
_NAMES = (
    # Names of secrets, as people and programs write them.
    "passw", "pass:", "pass=", "passphrase", "passcode", "pwd", "pw:", "pw is", "pw=", "secret", "token", "api key",
    "api-key", "api_key", "apikey", "access key", "access_key", "accesskey", "private key", "credential", "bearer",
    "authorization", "pin is", "pin:", "pin code", "recovery phrase", "seed phrase", "accountkey=", "sig=",
)
_SHAPES = (
    # Beginnings of well-known shapes, in lower case.
    "sk-", "sk_", "rk_", "pk_live", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat-",
    "gldt-", "glrt-", "xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "aiza",
    "ya29.", "gocspx", "eyj", "-----begin", "npm_", "pypi-", "hf_", "sg.",
    "dop_v1", "shpat_", "shpss_", "ltai", "akid", "altak", "ntn_", "lin_api", "dapi", "hvs.", "glsa_", "gsk_", "xai-",
    "r8_", "pplx-", "age-secret", "sntry", "figd_", "sbp_", "pscale_", "tskey-", "atatt3", "whsec_", "hooks.slack",
    "key-", ":aa", "dckr_pat_", "sq0", "ghv_", "eaaa", "vercel_", "nvapi-", "tvly-", "rubygems_",
    # Whoever writes this has a password before it.
    "://",
)
# fmt: on
_CHINESE = re.compile("密[码碼钥]|口令|令牌|私钥|助记词|pin ?码", re.IGNORECASE)
"""Names of secrets in Chinese."""


def _any_of(words: Iterable[str]) -> Callable[[str | bytes], bool]:
    return glance("|".join(re.escape(word) for word in words))


_has_cue = _any_of((*_NAMES, *_SHAPES))
_has_name = _any_of(_NAMES)


def may_hold(text: str) -> bool:
    """Tell whether a text has any cue at all."""
    return _has_cue(_plain(text)) or _has_chinese_name(text)


def may_name(text: str) -> bool:
    """Tell whether a text, of those that may hold a secret, has the name of one: looking for those costs most."""
    return _has_name(_plain(text)) or _has_chinese_name(text)


def _plain(text: str) -> bytes:
    return text.encode("ascii", "ignore").lower()


def _has_chinese_name(text: str) -> bool:
    return not text.isascii() and _CHINESE.search(text) is not None
