# ruff: noqa: E501 - a sentence is read whole
"""The help of the commands in Chinese, by the English words of their docstrings and options."""

from __future__ import annotations

from collections.abc import Mapping

HELP: Mapping[str, str] = {
    # -- of the program, of many commands
    (
        "Look after the memory of an OpenClaw agent: what it remembers, from the terminal.\n\n"
        "Exit codes: 0 done, 1 nothing was found, it was refused, or something needs attention, 2 the command or the\n"
        "configuration was not understood, 3 trouble (the disk refuses), 130 interrupted."
    ): (
        "在终端里照看 OpenClaw 智能体的记忆。\n\n"
        "退出码：0 完成，1 没有找到、被拒绝或有需要处理的内容，2 命令或配置不能理解，3 故障（磁盘拒绝），130 被中断。"
    ),
    "Install completion for the current shell.": "为当前的 shell 安装补全。",
    "Show completion for the current shell, to copy it or customize the installation.": "显示当前 shell 的补全脚本，供复制或自行安装。",
    "Folder of everything, with `memory/` in it; its `config.yaml` is read. [default: ~/.openclaw]": (
        "全部内容的文件夹，其中有 `memory/`；会读取其中的 `config.yaml`。[默认：~/.openclaw]"
    ),
    "Configuration to take the folders from, instead of --root.": "从这个配置文件得知文件夹，代替 --root。",
    "Folder of MEMORY.md and the daily notes, instead of the usual.": "MEMORY.md 和每日笔记所在的文件夹，代替通常的位置。",
    "Agent whose index and sessions are meant. [default: main]": "使用哪个智能体的索引和会话。[默认：main]",
    "Print JSON for programs instead of text for people.": "输出供程序使用的 JSON，而不是供人阅读的文字。",
    # -- init, demo, status
    (
        "Make a memory folder: its folders, and a config.yaml that explains every setting.\n\n"
        "It asks nothing and changes nothing that is there: a second run finds everything made. A workspace that another\n"
        "program keeps may be named by --workspace; nothing is written into it."
    ): (
        "建立记忆文件夹：各层的文件夹，以及解释每项设置的 config.yaml。\n\n"
        "不提问，也不改动已有的内容；第二次运行不会有任何变化。其他程序的工作区可以用 --workspace 指明，不会往里面写。"
    ),
    "four_layer, two_layer, four_tier or history. [default: four_layer]": "four_layer、two_layer、four_tier 或 history。[默认：four_layer]",
    "Such as Asia/Shanghai. [default: the system's]": "例如 Asia/Shanghai。[默认：系统时区]",
    "Language of labels in the files. [default: zh]": "文件中标签的语言。[默认：zh]",
    (
        "See memory at work: three days of talk, questions, a restart, the same questions, and the files behind it.\n\n"
        "It has a folder of its own, which goes when it is over, and touches nothing else."
    ): (
        "看记忆如何工作：三天的对话、提问、重启、同样的问题，以及背后的文件。\n\n"
        "在单独的临时文件夹里进行，结束后删除，不碰其他内容。"
    ),
    "Leave the folder, to look around in it.": "保留文件夹，以便查看。",
    (
        "Tell how memory is: files, sizes, index, disk, and what is wrong, with the command that mends it.\n\n"
        "Nothing is changed and nothing is locked: it may run beside a Gateway. Exit code 0: all is well, 1: something needs\n"
        "attention."
    ): (
        "报告记忆的状况：文件、大小、索引、磁盘，以及哪里有问题、用什么命令修复。\n\n"
        "不改动也不加锁，可以与 Gateway 同时运行。退出码 0：一切正常，1：有需要处理的内容。"
    ),
    # -- remember
    (
        "Remember something for good: it becomes an entry of MEMORY.md, and every context from now on may have it.\n\n"
        "What is known already is not written twice. It works beside a running Gateway, which writes it. For something with\n"
        "a name and a value there is `fact set`, for something to be done `task add`."
    ): (
        "长期记住一件事：成为 MEMORY.md 的一条，以后的上下文里都可能出现。\n\n"
        "已知的内容不会写两遍。可以与运行中的 Gateway 同时使用，由它写入。有名称和值的用 `fact set`，待办的用 `task add`。"
    ),
    "What to remember, in a sentence; `-` reads it from the standard input.": "要记住的一句话；`-` 表示从标准输入读取。",
    "Section of MEMORY.md to put it in.": "放到 MEMORY.md 的哪个章节。",
    "Put it into today's notes instead: true today, perhaps not for good.": "改为写进今天的笔记：今天成立，未必长期成立。",
    "Heading of the note.": "笔记的标题。",
    # -- search, debug-search
    (
        "Find what memory holds about something, the best first.\n\n"
        "It may run beside a Gateway. Exit code 0: found, 1: nothing was found, or it could not be searched."
    ): "查找记忆里与某事有关的内容，最好的在前。\n\n可以与 Gateway 同时运行。退出码 0：找到，1：没有找到。",
    "Find as `search` does, and tell how the scores came about.": "与 `search` 一样查找，并说明分数的由来。",
    "What to look for: words, a question.": "要找什么：词语，或一个问题。",
    "Most hits.": "最多几条结果。",
    "Least score; the best hit has 1.": "最低分数；最好的结果是 1。",
    "Only this layer; may be repeated: conversation, fact, task, summary, memory, note, history.": (
        "只在这一层查找；可以重复：conversation、fact、task、summary、memory、note、history。"
    ),
    "Search as this session would: a group's sees what a group may.": "按这个会话的权限查找：群组会话只能看到群组可见的内容。",
    "Show what each step of the ranking gave.": "显示排序的每一步给出了什么。",
    # -- rebuild-index, index status
    (
        "Make the index anew, beside the old one, which it replaces in one step.\n\n"
        "Nothing of memory rests on the index: it is derived from the files. No Gateway may run on the folder meanwhile; one\n"
        "that runs makes its index anew by itself when its files are deleted. Exit code 0: done, 1: it could not be done."
    ): (
        "在旧索引旁边重新建立索引，然后一步替换。\n\n"
        "索引由文件得出，记忆本身不依赖它。其间不能有 Gateway 使用此文件夹；运行中的 Gateway 在索引文件被删除后会自行重建。"
        "退出码 0：完成，1：无法完成。"
    ),
    "Read every file again, instead of only making the terms anew.": "重新读取所有文件，而不只是重建词项。",
    "Look after the index.": "照看索引。",
    "Tell what the index holds and how it is. Exit code 0: it is well, 1: something is wrong with it.": (
        "报告索引的内容和状况。退出码 0：正常，1：有问题。"
    ),
    # -- verify, repair
    (
        "Look at every document of memory and tell how it is.\n\n"
        "Nothing is changed and nothing is locked: it may run beside a Gateway. Exit code 0: nothing needs attention (what a\n"
        "person edited does not), 1: something does."
    ): (
        "检查记忆的每个文档，报告其状况。\n\n"
        "不改动也不加锁，可以与 Gateway 同时运行。退出码 0：没有需要处理的（人工修改不算），1：有。"
    ),
    (
        "Do what can be done by itself about what `verify` finds.\n\n"
        "Damaged documents are restored, and their bytes are set aside, never deleted; what waits in the journal is written;\n"
        "left-over files go; unfit backups are made anew. No Gateway may run on the folder meanwhile. Exit code 0: nothing\n"
        "needs attention any more, 1: something does, or the folder is in use."
    ): (
        "自动修复 `verify` 发现的问题中能修复的部分。\n\n"
        "损坏的文档会恢复，原来的字节移到一旁而不删除；日志里等待的内容会写入；残留的文件会清除；不合用的备份会重做。"
        "其间不能有 Gateway 使用此文件夹。退出码 0：不再有需要处理的，1：还有，或文件夹正被使用。"
    ),
    "Renew the checksums of edited documents too; every other byte stays.": "同时更新人工修改过的文档的校验和；其他字节不变。",
    "Tell what would be done, and change nothing.": "只说明会做什么，不改动。",
    # -- guide
    (
        "Print the guide that tells an agent how to keep its memory with the file tool that it has (two-layer mode).\n\n"
        "It goes into the system prompt: what to write where, when, and when not."
    ): "输出指南，告诉智能体如何用已有的文件工具保存记忆（两层模式）。\n\n放进系统提示：什么写在哪里、何时写、何时不写。",
    "Language of the guide. [default: that of the terminal]": "指南的语言。[默认：终端的语言]",
    "MEMORY.md, as the agent's own tool knows it.": "智能体自己的工具所认识的 MEMORY.md 路径。",
    "The day's notes, likewise.": "当天笔记的路径，同上。",
    "The tool that the agent writes files with.": "智能体写文件所用的工具。",
    # -- fact
    "Look up facts, and set them.": "查看和设置事实。",
    (
        "Print facts: all of them, those of a section, or the value of one. Exit code 1: there is none.\n\n"
        "With section and key the value alone is printed, for scripts. Upper and lower case are the same."
    ): (
        "输出事实：全部、某个章节的，或其中一条的值。退出码 1：没有。\n\n"
        "同时给出章节和名称时只输出值，供脚本使用。不区分大小写。"
    ),
    "Only this section.": "只看这个章节。",
    "Only this fact: its value, and nothing else.": "只看这一条：只输出它的值。",
    "Fact file, without `.md`. [default: where it stands]": "事实文件，不含 `.md`。[默认：它所在的文件]",
    (
        "Give a fact its value; one that it had is kept in the archive, with its dates.\n\n"
        "It works beside a running Gateway, which writes it."
    ): "设置一条事实的值；原来的值连同日期保存在归档里。\n\n可以与运行中的 Gateway 同时使用，由它写入。",
    "Section of the fact, such as `preferences`.": "事实的章节，例如 `preferences`。",
    "Name of the fact within its section, such as `editor`.": "事实在章节里的名称，例如 `editor`。",
    "Its value; `-` reads it from the standard input.": "它的值；`-` 表示从标准输入读取。",
    # -- task
    "Look at what is to be done, and change it.": "查看和修改待办的任务。",
    "List what is to be done, with `--all` what was done as well. Exit code 1: there is nothing.": (
        "列出待办的任务，加 `--all` 也列出完成的。退出码 1：没有。"
    ),
    "Only tasks in this state; may be repeated: pending, in_progress, completed, expired.": (
        "只列出这个状态的任务；可以重复：pending、in_progress、completed、expired。"
    ),
    "Completed and archived tasks as well.": "也列出完成和归档的任务。",
    "Put down something to be done; it gets an id of its own.": "记下一件要做的事；它会得到自己的编号。",
    "What is to be done, in a line.": "要做什么，一行。",
    "More words; `-` reads them from the standard input.": "更多说明；`-` 表示从标准输入读取。",
    "Day by which it should be done: 2026-05-04.": "截止日期：2026-05-04。",
    "high, medium, low. [default: medium]": "high、medium、low。[默认：medium]",
    "A step of it; may be repeated.": "其中一步；可以重复。",
    "Say that a task is completed. Exit code 1: there is no such task.": "标记任务已完成。退出码 1：没有这个任务。",
    "The task, such as `OPEN-003`; `3` is enough.": "任务，例如 `OPEN-003`；只写 `3` 也行。",
    "Why; kept with the task.": "原因；与任务一起保存。",
    (
        "Give a task another state: it is begun, it has expired, it was not completed after all.\n\n"
        "From `completed` it goes back to `in_progress` only. Exit code 1: there is no such task, or it can't be."
    ): "改变任务的状态：已开始、已过期、其实没有完成。\n\n`completed` 只能回到 `in_progress`。退出码 1：没有这个任务，或不能这样改。",
    "pending, in_progress, completed, expired.": "pending、in_progress、completed、expired。",
    # -- config show
    "Look at the configuration.": "查看配置。",
    (
        "Show every setting, its value, and where that came from.\n\n"
        "`default`; `preset`, from the mode; `file`; `environment`, a variable such as OPENCLAW_MEMORY_TIMEZONE; `option`, of\n"
        "this command. The later one has the last word. What each means stands in docs/configuration.md."
    ): (
        "列出每项设置、它的值，以及值从哪里来。\n\n"
        "`default` 默认；`preset` 来自模式；`file` 文件；`environment` 环境变量，例如 OPENCLAW_MEMORY_TIMEZONE；"
        "`option` 本命令的选项。后面的优先。各项含义见 docs/configuration.md。"
    ),
    "Only what is not a default.": "只列出非默认的。",
    # -- mcp
    (
        "Serve memory to programs that speak MCP: Claude Desktop, Claude Code, Cursor, OpenClaw.\n\n"
        "They start this command themselves and talk through its pipe; with `--http` it prints the address and serves any\n"
        "number of them. It works beside a running Gateway, and ends with its client, by Ctrl-C or SIGTERM."
    ): (
        "为支持 MCP 的程序提供记忆：Claude Desktop、Claude Code、Cursor、OpenClaw。\n\n"
        "它们自己启动这条命令并通过管道通信；加 `--http` 则输出地址，可供任意多个程序使用。"
        "可以与运行中的 Gateway 同时使用；客户端退出、Ctrl-C 或 SIGTERM 时结束。"
    ),
    "Serve at an address of this machine instead of the pipe.": "在本机的一个地址上提供服务，而不是通过管道。",
    "With --http: 127.0.0.1, ::1 or localhost.": "与 --http 同用：127.0.0.1、::1 或 localhost。",
    "With --http: 0 takes one that is free.": "与 --http 同用：0 表示任选一个空闲端口。",
    "What the clients may see and write: primary, sub, group, sandbox.": (
        "客户端能看到和写入什么：primary、sub、group、sandbox。"
    ),
    "Session that the clients write in.": "客户端写入的会话。",
    # -- forget
    (
        "Remove something from memory for good: documents, archives, backups, journal, index.\n\n"
        "Shows what would go, and asks. It can't be undone. It may run beside a Gateway, which then does it. Exit code 0: it\n"
        "is gone, and every byte was looked through; 1: nothing was found, it was refused or not confirmed, or it still\n"
        "stands somewhere, which is told."
    ): (
        "把某些内容从记忆里永久去除：文档、归档、备份、日志、索引。\n\n"
        "先显示会去除什么，再询问。无法撤销。可以在网关运行时执行，届时由网关完成。退出码 0：已经去除，每个字节都检查过；"
        "1：什么也没有找到、被拒绝、未确认，或者仍有残留（会说明在哪里）。"
    ),
    "What is to be forgotten wherever it stands.": "要忘记的文字，无论在哪里。",
    "A fact file, without `.md`.": "事实文件，不带 `.md`。",
    "Section of a fact; goes with --key.": "事实所在的小节；与 --key 同用。",
    "Key of a fact; goes with --section.": "事实的键；与 --section 同用。",
    "A task, such as OPEN-003.": "任务，例如 OPEN-003。",
    "All that was said in a session.": "某个会话中说过的全部内容。",
    "Everything before a day or time (ISO 8601).": "某日或某时（ISO 8601）之前的全部内容。",
    "Everything after it; may go with --before.": "某时之后的全部内容；可与 --before 同用。",
    "A document, as `search` names it, with its messages' copies.": "文档，写法同 `search` 所示；其中消息的副本一并去除。",
    "Only show what would go.": "只显示会去除什么。",
    "Do not ask.": "不询问。",
    # -- heartbeat, summary
    (
        "Do what is due: summaries, clean-up of tasks, what the configuration asks for.\n\n"
        "For programs that send no heartbeat of their own, such as cron. Beside a running Gateway the jobs are left to that\n"
        "one. Exit code 1: they were left to it, 3: a job failed."
    ): (
        "执行到期的工作：摘要、任务清理，以及配置要求的其他事项。\n\n"
        "供自己不发心跳的程序使用，例如 cron。Gateway 正在运行时由它执行。退出码 1：已留给它，3：有工作失败。"
    ),
    "Time that the jobs take it to be, ISO 8601. [default: now]": "工作所用的当前时间，ISO 8601。[默认：现在]",
    (
        "Show the summary of a day, a week or a month.\n\n"
        "`--make` needs the folder to itself: beside a running Gateway that one makes them. Exit code 1: there is none."
    ): (
        "显示某日、某周或某月的摘要。\n\n`--make` 需要独占文件夹：Gateway 正在运行时由它生成。退出码 1：没有这份摘要。"
    ),
    "How long a time.": "时间跨度。",
    "2026-05-04, 2026-w18 or 2026-05. [default: the last that has ended]": (
        "2026-05-04、2026-w18 或 2026-05。[默认：最近结束的一段]"
    ),
    "Make it first, also anew; what a person wrote in it stays.": "先生成，也可重新生成；人工写的内容不动。",
    # -- compact, promote, history, diff, restore
    (
        "Have a session go on behind a summary of its beginning.\n\n"
        "A fifth of its messages, at least four, stay as they are. Nothing leaves the files: what was said is found as\n"
        "before. Exit code 1: nothing was changed, and why."
    ): (
        "让会话从开头部分的摘要之后继续。\n\n"
        "五分之一的消息（至少四条）保留原样。文件里什么都不少：说过的话照样找得到。退出码 1：没有改动，并说明原因。"
    ),
    "Session whose history is made shorter.": "要缩短历史的会话。",
    "Window of the model, in tokens; compacted only when it is nearly full.": "模型的窗口，以 token 计；快满时才压缩。",
    "Tokens of it in use. [default: counted]": "已用的 token 数。[默认：自行计算]",
    (
        "Show what of notes and talk would go into MEMORY.md, since it was recalled again and again.\n\n"
        "What a person wrote in MEMORY.md stays, and the text before is kept. Exit code 1: there is nothing to promote, or to\n"
        "take back."
    ): (
        "列出日志和对话中一再被回忆、将写入 MEMORY.md 的内容。\n\n"
        "MEMORY.md 中人工写的内容不动，改动前的文本会保留。退出码 1：没有可晋升或可撤回的。"
    ),
    "Promote what is shown; without it nothing is changed.": "晋升列出的内容；不给则不改动。",
    "Take the last promotion back.": "撤回上一次晋升。",
    "Show every candidate, with what it has and what it needs.": "列出每个候选，说明它有什么、还缺什么。",
    "List the versions of a document, newest first. Exit code 1: there are none.": "列出文档的各个版本，最新的在前。退出码 1：没有版本。",
    "A document, such as `facts/user-profile.md` or `MEMORY.md`.": "文档，例如 `facts/user-profile.md` 或 `MEMORY.md`。",
    "Show what changed in a document since a version, the newest by default. Exit code 1: nothing did.": (
        "显示文档自某个版本（默认最新）以来的改动。退出码 1：没有改动。"
    ),
    "Commit or time: 3f2a91c, 2026-05-04, 2026-05-04T14:30.": "提交或时间：3f2a91c、2026-05-04、2026-05-04T14:30。",
    (
        "Put a document back to what it was, as if you had typed it; also beside a running Gateway.\n\n"
        "What it holds now is committed first, so nothing is lost. Exit code 1: there is no such version."
    ): (
        "把文档恢复成从前的样子，等同于人工修改；可以与 Gateway 同时运行。\n\n"
        "现在的内容会先提交，所以什么都不会丢。退出码 1：没有这个版本。"
    ),
    # -- context, chat
    (
        "Show the context that memory gives for what a user says, as it goes into the prompt.\n\n"
        "It may run beside a Gateway. Exit code 0: there is a context, 1: memory has nothing for this session."
    ): (
        "显示记忆针对用户的话给出的上下文，与写入提示词的一致。\n\n"
        "可以与 Gateway 同时运行。退出码 0：有上下文，1：记忆里没有这个会话可用的内容。"
    ),
    "What the user says; empty: what comes in any case.": "用户说的话；留空则只给出无论如何都会有的内容。",
    "Budget of the context, in tokens. [default: session_start_tokens of the configuration]": (
        "上下文的预算，单位 token。[默认：配置中的 session_start_tokens]"
    ),
    "Session that asks: a group's gets what a group may see.": "提问的会话：群组会话只能得到群组可见的内容。",
    "Show how the budget is divided and spent, instead of the text.": "不显示文本，而是显示预算如何分配和使用。",
    (
        "Talk with an agent that has this memory, and see what is recalled and what is written.\n\n"
        "The agent is the model of the configuration's `completion`; without one its answers are a script, and memory is real\n"
        "all the same. `/context` shows all that the last message brought to the prompt, `/budget` how its budget was spent,\n"
        "`/quit`, Ctrl-D or Ctrl-C ends. Lines may be piped in. What was said is stored as soon as it is shown."
    ): (
        "与拥有这份记忆的 Agent 对话，并看到召回和写入了什么。\n\n"
        "Agent 是配置中 `completion` 的模型；没有配置时由脚本回答，记忆同样是真的。`/context` 显示上一条消息带进提示词的\n"
        "全部内容，`/budget` 显示预算的使用，`/quit`、Ctrl-D 或 Ctrl-C 结束。可以从管道输入。说过的话显示出来时已经保存。"
    ),
    "Session to talk in; it goes on where it ended the last time.": "对话所在的会话；从上次结束的地方继续。",
    # -- import, export
    "Take in what another program remembers: OpenClaw, nanobot, memsearch, basic-memory, ChatGPT, Claude, an export.\n\nWhat would be written is shown first, and everything is backed up before. A second run changes nothing. Ctrl-C\nleaves memory as it was. Exit code 0: done, or nothing is new, 1: it was refused, or some of it could not be read.": "导入其他程序的记忆：OpenClaw、nanobot、memsearch、basic-memory、ChatGPT、Claude，或一份导出。\n\n先显示会写入什么，并事先备份全部内容。第二次运行不会有变化。Ctrl-C 使记忆保持原样。退出码 0：完成或没有新内容，1：被拒绝，或有一部分无法读取。",
    "A folder, a file, or a zip archive as it was downloaded.": "文件夹、文件，或下载来的 zip 压缩包。",
    "What wrote it, where that can't be told: openclaw, nanobot, memsearch, basic-memory, chatgpt, claude, jsonl.": "无法判断时指明来源：openclaw、nanobot、memsearch、basic-memory、chatgpt、claude、jsonl。",
    "Do not ask before anything is written.": "写入前不询问。",
    "The chats are your own words: they are not marked as untrusted wherever they are recalled.": "聊天是你自己说的话：回忆时不标为不可信。",
    "Where a fact has another value there, take that; else yours is kept.": "事实的值不同时采用那边的；否则保留你的。",
    "Write everything that memory holds into a file of JSON lines, or its Markdown files into a folder.\n\nSecrets are exported as they are stored. It works beside a running Gateway. Exit code 0: done, 1: it was refused, or\nsome documents could not be read and are there as their bytes only.": "把全部记忆写成一个 JSON lines 文件，或把 Markdown 文件写到一个文件夹。\n\n密钥按存储的样子导出。可以与运行中的 Gateway 同时使用。退出码 0：完成，1：被拒绝，或有文档无法读取、只按原字节导出。",
    "File or folder to write; it must not exist yet.": "要写的文件或文件夹；必须尚不存在。",
    "`jsonl`, one object a line, or `markdown`, the files.": "`jsonl`：一行一个对象；或 `markdown`：文件本身。",
    "Only the messages of this session (`jsonl` only).": "只导出这个会话的消息（仅 `jsonl`）。",
    "Only what has a time on or after this day (`jsonl` only).": "只导出这一天及以后的内容（仅 `jsonl`）。",
    "Write over what is there.": "覆盖已有的内容。",
}
