"""What secrets are called, in Chinese and English."""

from __future__ import annotations

import re

from openclaw_memory.masking.kinds import PLACEHOLDER_BEGINS, Kind

PASSWORDS = (
    r"pass[ _-]?(?:word|phrase|code)s?|passwd|\bpwd\b|\bpw\b|\bPIN ?码|\bPIN(?:[ _-]?(?:code|number))?\b"
    r"|(?:recovery|seed) phrase|密码|密碼|口令|助记词"
)
_KEYS = (
    r"(?:api|secret|access|private|signing|encryption|service)[ _-]?keys?(?:[ _-]?id)?|(?:client|app)[ _-]?secret"
    r"|密钥|私钥"
)
_TOKENS = r"(?:access|auth|refresh|bearer|bot|session|api|personal access|security|deploy)?[ _-]?token|令牌"
NAMES: tuple[tuple[Kind, str], ...] = (
    ("password", rf"(?:{PASSWORDS})"),
    ("api key", rf"(?:{_KEYS}|(?<![A-Za-z])(?:[A-Za-z0-9]+_)?SECRET)"),
    ("token", rf"(?<![A-Za-z])(?:{_TOKENS})(?![A-Za-z])"),
)


_NAMED: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    # `WiFi 密码（5G）` is one, `密码管理器` is none.
    (kind, re.compile(rf"(?:{name})(?:[ \t]*[(（][^()（）]{{0,60}}[)）])?\W*\Z", re.IGNORECASE))
    for kind, name in NAMES
)
_MASKED = re.compile(rf"(?:{'|'.join(map(re.escape, PLACEHOLDER_BEGINS))})[^\]]*\]")
"""What stands in the place of a password names none."""

_ABOUT = re.compile(
    r"\b(?:policy|rules?|manager|tool|app|length|hint|reminder|notes?|location|where|user ?name|user|login|account|"
    r"e-?mail|url|site|website|address|host|port|phone|date|day|changed|expir\w*|rotat\w*|algorithm|hash|encryption|"
    r"storage|stored|status|type|ssid|owner|contact|renew\w*)\b"
    r"|管理|策略|规则|长度|工具|提示|提醒|备注|位置|地点|用户名|账号|帐号|账户|邮箱|网址|网站|地址|端口|电话|日期|时间|"
    r"更换|更新|过期|有效|算法|加密|存放|保存|状态|类型|名称|负责人|联系人",
    re.IGNORECASE,
)


def named(name: str) -> Kind | None:
    """Tell what kind of secret a name, such as the key of a fact, stands for; None when it is none."""
    name = _MASKED.sub("", name)
    return next((kind for kind, pattern in _NAMED if pattern.search(name)), None)


def is_about(name: str) -> bool:
    """Tell whether a name is one of what is told about secrets, such as `policy`, and not of one."""
    return _ABOUT.search(name) is not None
