# ruff: noqa: E501 - a sentence is read whole
"""Refusals in Chinese, by the English words in which memory refuses; `{}` stands for a value, in the same order."""

from __future__ import annotations

from collections.abc import Mapping

REFUSALS: Mapping[str, str] = {
    # -- errors.py
    "{} is in use by {}; stop it, or choose another root": "{} 正被 {} 使用；请停止它，或另选一个根目录",
    "{} is in use by another memory, whose memory folder is another one; give this one a workspace_path of its own, or stop the other": (
        "{} 正被另一个记忆使用，它的记忆文件夹在别处；请给这一个单独的 workspace_path，或停止那一个"
    ),
    # -- facts
    "it is blank; remove the fact instead": "值为空；请改为删除这条事实",
    "it would be read back as something else; use a plain name without a colon": "写入后读回来会变样；请用不带冒号的普通名称",
    "it holds a secret, and is the name of a file; give it a name without": "其中含有密钥，而它是文件名；请换一个不含密钥的名称",
    # -- tasks
    "there is no task {}; active are: {}": "没有任务 {}；进行中的有：{}",
    "{} is completed; it can only go back to in_progress, not to {}": "{} 已完成；只能回到 in_progress，不能改为 {}",
    "another task there is {} too; give one of them another id": "那里另有一个任务也叫 {}；请给其中一个换编号",
    "{} is archived in {}; make a new task instead": "{} 已归档在 {}；请新建任务",
    "task {} has no place for it; look for an unclosed fence": "任务 {} 里放不下它；请检查是否有未闭合的代码围栏",
    "a title is one line that is not blank": "标题须是一行非空文字",
    "it would be read back as something else; use plain lines": "写入后读回来会变样；请用普通的文字行",
    "use one of {}": "请用其中之一：{}",
    "its lines would not be read back as one task; look for an unclosed fence": "这些行读回来不是一个任务；请检查是否有未闭合的代码围栏",
    # -- MEMORY.md and notes
    "{} has {} characters, entries are added up to {}; move parts of it into files that it links to": (
        "{} 有 {} 个字符，超过 {} 就不再添加条目；请把一部分移到它链接的文件里"
    ),
    "it would be read back as something else; write it as a plain sentence": "写入后读回来会变样；请写成普通的一句话",
    "it is blank; leave the entry out": "内容为空；不必写这一条",
    "{} characters, an entry of MEMORY.md has at most {}; write a note instead": "{} 个字符，MEMORY.md 的一条最多 {} 个；请改写成笔记",
    "it would be read back as something else; use plain paragraphs": "写入后读回来会变样；请用普通段落",
    "daily notes are private; nothing of a {} session goes into them": "每日笔记是私人的；{} 会话的内容不写入其中",
    # -- sessions
    "a {} session only reads; write from a primary session": "{} 会话只能读取；请从主会话写入",
    "a {} session only adds to its own conversation; write from a primary session": "{} 会话只能写自己的对话；请从主会话写入",
    "{} is written by OpenClaw itself, and only read here; give the session another id": "{} 由 OpenClaw 自己写，这里只读；请给会话换一个编号",
    "it was used for another write of this session; give each write its own": "它已用于这个会话的另一次写入；请每次写入各用一个",
    "is empty; give it at least one letter or digit": "为空；至少要有一个字母或数字",
    "holds {}, which no name of a file may; use letters, digits and . _ - :": "含有 {}，文件名里不能有；请用字母、数字和 . _ - :",
    "{} begins with one of . - ~ or ends with a dot; begin and end with a letter or digit": "{} 以 . - ~ 之一开头或以点结尾；请以字母或数字开头和结尾",
    "{} is a device on Windows; choose another name": "{} 在 Windows 上是设备名；请换一个名称",
    "takes {} bytes as a name of a file, at most {} are taken; shorten it": "作为文件名占 {} 字节，最多 {} 字节；请缩短",
    # -- forgetting, promoting, what the owner of a folder does
    "memory is being written too busily to be forgotten in now; ask again": "记忆此刻写入太频繁，无法遗忘；请再试一次",
    "it was forgotten on {}; leave it out, or have the owner say it again": "它已于 {} 被遗忘；请不要再写，或由主人再说一次",
    "{} is no document of memory; name one as searches do, such as `facts/user-profile.md`, `conversations/2026-05-04.md` or `workspace/main/MEMORY.md`": (
        "{} 不是记忆的文档；请用搜索给出的名称，例如 `facts/user-profile.md`、`conversations/2026-05-04.md` 或 `workspace/main/MEMORY.md`"
    ),
    "{} has {} letters or digits, at least {} are needed: it stands in nearly everything; give more of the text, or name what is meant by path, session or time": (
        "{} 只有 {} 个字母或数字，至少需要 {} 个：它几乎到处都有；请给出更多文字，或用路径、会话、时间指明"
    ),
    "it was taken back meanwhile": "其间已被撤回",
    "{} has not answered yet; it, or the next owner, does it": "{} 尚未回应；将由它或下一个所有者完成",
    "{} is none of {}": "{} 不在其中：{}",
}
