"""Words that say too little to search by, in both languages."""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by
can could d did do does doing don down during each few for from further had has have having he her here hers herself
him himself his how i if in into is it its itself just ll m me more most my myself no nor not now of off on once
only or other our ours ourselves out over own re s same she should so some such t than that the their theirs them
themselves then there these they this those through to too under until up ve very was we were what when where which
while who whom why will with would you your yours yourself yourselves
"""

_CHINESE = "的 了 是 在 和 就 都 而 及 与 着 或 一个 没有 我们 你们 他们 这个 那个 什么 怎么"

ENGLISH = frozenset(_ENGLISH.split())

CHINESE = frozenset(_CHINESE.split())
"""The list of seed 000 section 6.1."""

STOP_WORDS = ENGLISH | CHINESE

OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
"""Search syntax of other programs, in capitals. Alone it asks for nothing."""
