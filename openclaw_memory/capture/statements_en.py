"""What a user states that will still hold next month, in English (seed 002, “显式表达”; seed 004 section 2.2)."""
# ruff: noqa: E501 - one rule a line, so that the table can be read

from __future__ import annotations

from openclaw_memory.capture.cued import cued
from openclaw_memory.capture.verdicts import Rule

_OPEN = r"(?:^|[,:;.]\s*|\s-\s+|\b(?:in|for) (?:this|our) (?:project|repo|repository|codebase|team),?\s+|\b(?:and|but|because|since|so|also|btw|actually|honestly|by the way|well|fyi)\b[,:]?\s+)"
_DEFINITE = r"(?:it|this|that|these|those|them|the|your|you|how|to think|to(?=\W*$)|all (?:the|these|those|of)|every bit|being (?:here|able)|my last|where|when|what)\b"
_NO_NAME = r"(?:a|an|the|back|later|when|if|at|in|on|after|before|tomorrow|today|tonight|now|again|by|crazy|old|out|up|for|it)\b"
_ROLE = (
    r"(?:er|or|ist|ian|ect|yst|ant|ent|nurse|doctor|chef|pilot|nanny|cook|lawyer|attorney|coach|boss|freelancer|ceo|cto|"
    r"researcher|student|pharmacist|architect|dev|programmer|vet|judge|clerk|guide|host|artist|scientist)"
)
_FAMILY = r"(?:kids?|child(?:ren)?|sons?|daughters?|dogs?|cats?|wife|husband|brothers?|sisters?|twins?|partner|pets?|parrots?|rabbits?)"
_ILLNESS = r"(?:diabetes|asthma|a heart condition|epilepsy|celiac disease|high blood pressure|an? \w+ allergy|adhd|dyslexia|migraines)"
_ATTRIBUTE = (
    r"(?:(?:\w+ )?(?:name|birthday|number|zone|timezone|language|job|profession|occupation|title|email|address|role|company|"
    r"employer|pronouns|hometown|hobby|diet|blood type|zip code)|favou?rite [\w ]{2,30}?)"
)
_DO = (
    r"(?:use|add|run|write|answer|reply|ask|call|include|put|give|show|check|start|end|speak|respond|explain|send|commit|push|deploy|"
    r"format|keep|make|test|return|mention|suggest|merge|translate|begin|avoid|tell|delete|touch|edit|sign|quote|cite|greet|address|be|"
    r"round|sort|cc|confirm|wait|assume|log|list|summari[sz]e|apologi[sz]e|do|offer|repeat|rename|install|import|talk|leave)"
)
_SIMPLE_VERB = r"(?:use|add|write|call|apologi[sz]e|include|send|ask|give|reply|answer|speak|suggest|start|end|put|format|translate)"

_RULES: tuple[tuple[Rule, str, str], ...] = (
    # About the user.
    ("about_user", "my name", rf"{_OPEN}my name(?:'s| is) \S"),
    ("about_user", "call me|calls me", rf"{_OPEN}(?:(?:please|you can|just|everyone) )*calls? me (?!{_NO_NAME})[\w'-]+(?: [A-Z][\w'-]+)?\W*$"),
    ("about_user", "my ", rf"{_OPEN}my {_ATTRIBUTE}(?:'s| is| are|:) \S"),
    ("about_user", "i'm a|i am a", rf"{_OPEN}i(?:'m| am) (?:a|an) (?:[\w-]+ ){{0,4}}?[\w-]*{_ROLE}\b(?! of (?:this|your))"),
    ("about_user", "i work ", rf"{_OPEN}i work (?:as|at|for|in) \S"),
    ("about_user", "for a living", rf"{_OPEN}i do [\w ]+ for a living"),
    ("about_user", "i live |i currently live |i now live |grew up |am based |come ", rf"{_OPEN}i (?:(?:currently|now) )?(?:live|grew up|am based|come) (?:in|near|from) (?!{_DEFINITE})\S"),
    ("about_user", "i'm from |i am from |based in ", rf"{_OPEN}i(?:'m| am) (?:from|based in) (?!{_DEFINITE})\S"),
    ("about_user", "allergic to|intolerant to", rf"{_OPEN}i(?:'m| am) (?:\w+ )?(?:allergic|intolerant) to (?!{_DEFINITE})\S"),
    ("about_user", "vegetarian|vegan|diabetic|celiac|colorblind|color-blind|left-handed|pescatarian", rf"{_OPEN}i(?:'m| am) (?:a |an )?(?:strict |lifelong )?(?:vegetarian|vegan|diabetic|celiac|color-?blind|left-handed|pescatarian)\b"),
    ("about_user", "i have ", rf"{_OPEN}i have {_ILLNESS}"),
    ("about_user", "i have ", rf"{_OPEN}i have (?:a|an|one|two|three|four|five|\d) (?:\w+ ){{0,2}}?{_FAMILY}\b"),
    ("about_user", "i speak |eat |drink |smoke ", rf"{_OPEN}i (?:speak|can't eat|cannot eat|can't drink|don't eat|don't drink|don't smoke) (?!{_DEFINITE})\S"),
    # What changed.
    ("changed", "switched|moved|migrated|changed|converted", rf"{_OPEN}(?:i|we)(?:'ve| have)? (?:just |recently |now |finally )?(?:switched|moved|migrated|changed|converted) (?:over )?(?:from [\w .]+ )?to (?!{_DEFINITE})\S"),
    ("changed", "switch to|move to|migrate to|change to", rf"{_OPEN}(?:i|we) (?:should |could )?(?:switch|move|migrate|change) to (?!{_DEFINITE})\S"),
    ("changed", "switch to|move to|migrate to|change to", rf"{_OPEN}(?:i|we)(?:'m|'re| am| are) going to (?:switch|move|migrate|change) to (?!{_DEFINITE})\S"),
    ("changed", "have to |need to |must ", rf"{_OPEN}i (?:have to|need to|must) (?:stop|avoid|quit|give up) \w+ing\b"),
    ("changed", "no longer|anymore", rf"{_OPEN}(?:i|we) (?:no longer|don't \w+ anymore)\b"),
    ("changed", "quit|given up|gave up|stopped", rf"{_OPEN}i(?:'ve| have)? (?:just |recently )?(?:quit|given up|gave up|stopped) (?:my job|\w+ing\b)(?! (?:it|this|that)\b)"),
    ("changed", "married|divorced|promoted|a new job", rf"{_OPEN}i(?:'ve| have)? (?:just |recently )?(?:got|gotten) (?:married|divorced|promoted|a new job)"),
    # What was decided.
    ("decision", "decided|agreed|settled on|chosen|chose|standardi|going with|committed to", rf"{_OPEN}(?:we|the team|our team)(?:'ve| have| has)? (?:just |finally |all )?(?:decided|agreed|settled on|chosen|chose|standardi[sz]ed on|are going with|'re going with|committed to)\b"),
    # Preferences.
    ("preference", "like|love|prefer|enjoy|hate|adore|despise", rf"{_OPEN}i (?:really |do |also |still |much |generally |just |absolutely |strongly )*(?:like|love|prefer|enjoy|hate|dislike|adore|despise)(?! {_DEFINITE}) \w"),
    ("preference", "don't |do not |can't |cannot ", rf"{_OPEN}i (?:really |just )*(?:don't|do not|can't|cannot) (?:really |much )?(?:like|love|stand|enjoy|care for|bear)(?! {_DEFINITE}) \w"),
    ("preference", "rather|prefer", rf"{_OPEN}i(?:'d| would) (?:much )?(?:rather|prefer)(?: have| see| use| get| that)? (?!{_DEFINITE})\w"),
    ("preference", "usually|always|never|normally|typically|mostly|generally|rarely|only ever", rf"{_OPEN}i (?:usually|always|never|normally|typically|mostly|generally|rarely|only ever)\s+(?!said|told|thought|knew|asked|meant|got|heard)\w+"),
    # Standing wishes.
    ("standing_wish", "from now on|going forward|from today on|in future|in the future|as a rule|for all future ", r"^\W*(?:please )?(?:from now on|going forward|from today on|in (?:the )?future|as a rule|for all future \w+)\b.{4,}"),
    ("standing_wish", "always|never", rf"(?:^\W*|\b(?:project|repo|repository|codebase|team|please),?\s+)(?:(?:please|you should|you must|you can|i want you to) )*(?:always|never)\s+(?!give up|be the same){_DO}\b"),
    ("standing_wish", "whenever|every time|each time|any time", r"^\W*(?:please )?(?:whenever|every time|each time|any time)\s+(?:you (?!need|want|feel|are\b|'re|get\b|have|like|can\b)|i ask|we (?:talk|deploy|release|review))\w*\b.{4,}"),
    ("standing_wish", "when you |whenever you ", r"^\W*(?:please )?when(?:ever)? you (?:reply|answer|write|respond|explain|talk|code|review)\b.*,\s*\w+"),
    ("standing_wish", "don't |do not ", rf"^\W*(?:please )?(?:don't|do not) {_SIMPLE_VERB} (?!{_DEFINITE}|any more\b|a\b|an\b)(?:\w+ ){{0,3}}\w+s\b(?: (?:with|in|for|to) me)?\W*$"),
    ("standing_wish", "stop ", r"^\W*(?:please )?stop \w+ing\b.*\b(?:all the time|always|so much|every\w*|constantly|at the end)\b"),
    ("standing_wish", "always|never|only|usually", rf"{_OPEN}(?:we|our team|the team) (?:always|never|only|usually) (?!said|went|had|got)\w+"),
    ("standing_wish", "should always|should never|must always|must never", r"\b(?:should|must) (?:always|never)\b(?: be| have| use)?"),
)  # fmt: skip
RULES = tuple((rule, cued(cues, pattern)) for rule, cues, pattern in _RULES)
"""The rules in the order in which they are tried: the first that matches names the statement."""
