"""Whether a person's words complain, praise, or do neither. Words match as words; negation counts.

Code, quotations and fences are not the person's words. The tables are data; a language is a few
more lines in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Mood(Enum):
    """What a message says about the work before it."""

    NEUTRAL = "neutral"
    PRAISE = "praise"
    COMPLAINT = "complaint"


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    """Lines of phrases, a bar between two, as tuples of words; the longest first."""
    split = (phrase.split() for line in text.splitlines() for phrase in line.split("|"))
    return tuple(sorted({tuple(words) for words in split if words}, key=len, reverse=True))


HARMLESS = _phrases(
    """
    no problem | no problems | no worries | no need | no rush | no hurry | no longer | no matter
    no doubt | no idea | no one | no thanks | no thank you | no issue | no issues | no error
    no errors | no bugs | no complaints | no objections | no big deal | no harm | no wonder
    never mind | nevermind | don't worry | do not worry | not bad | not wrong | not a problem
    nothing wrong | nothing is wrong | nothing broken | nothing is broken | not broken | why not
    not only | not sure | not yet | not now | not right now | right now | can't complain
    cannot complain | stop there | stop by | non stop | no stop | wrong number | again later
    try again later | no more errors | without error | without errors
    kein problem | keine sorge | nicht schlecht | nicht falsch | nichts zu meckern | nein danke
    pas de problème | pas de souci | pas mal | pas faux | non merci
    no hay problema | ningún problema | no pasa nada | no está mal | no gracias
    """
)
"""What sounds like a complaint and is none; taken out before anything else is looked for."""

OPENERS = _phrases(
    """
    nope | wrong | incorrect | that's wrong | thats wrong | that is wrong | this is wrong
    it's wrong | its wrong | not what | that's not | thats not | that is not | that isn't
    this isn't | this is not | it's not | it isn't | undo | revert | stop | wait no | ugh | argh
    still not | still wrong | still broken | still failing | still fails | again wrong | actually no
    oh no | no no | no that's | no thats | no that | no this | no it | no it's | no you | no i
    no don't | no do | no not | no please | no stop | no use | no wait | no wrong | no never
    nein | falsch | stimmt nicht | das stimmt nicht | das ist falsch | nicht so | immer noch
    non | faux | c'est faux | ce n'est pas | toujours pas
    incorrecto | está mal | eso no | sigue sin | todavía no
    """
)
"""What complains when a message begins with it."""

ANYWHERE = _phrases(
    """
    you forgot | you forget | you missed | you skipped | you ignored | you broke | you deleted
    you removed the wrong | you were supposed to | you should have | you shouldn't have
    you should not have | you keep | you didn't | you did not | you still | you again | i told you
    i already told | i already said | i said | as i said | like i said | i asked for | i asked you
    i didn't ask | i did not ask | i don't want | i do not want | i meant | i wanted
    that's not what | that is not what | not what i | why did you | why do you keep | how many times
    doesn't work | does not work | didn't work | did not work | don't work | isn't working
    is not working | not working | won't work | still doesn't | still does not | still isn't
    still not | still wrong | still broken | still failing | still fails | still the same
    still getting | is wrong | are wrong | was wrong | is incorrect | is broken | it broke
    wrong again | not correct | not right | isn't right | aren't right | not good | isn't good
    not great | not enough | not ok | not okay | makes no sense | doesn't make sense | no good
    not acceptable | not helpful | please don't | please do not | don't do that | do not do that
    stop doing | stop adding | stop using
    funktioniert nicht | geht nicht | hast vergessen | habe gesagt | ist falsch | schon wieder
    ne marche pas | ne fonctionne pas | tu as oublié | j'ai dit | est faux
    no funciona | te olvidaste | te dije | está mal | otra vez mal
    """
)
"""What complains wherever in a message it stands."""

PRAISE = _phrases(
    """
    thanks | thank you | great | perfect | excellent | awesome | nice | good job | well done
    looks good | lgtm | works now | works great | love it | correct | exactly | beautiful | good
    no problem | no problems | no complaints | not bad
    danke | perfekt | super | merci | parfait | gracias | perfecto
    """
)

UNSPACED_HARMLESS = ("没问题", "没有问题", "不错", "問題ない", "問題ありません", "没错")
UNSPACED_COMPLAINTS = (
    "不对", "错了", "不是这样", "还是不行", "又错", "我说过", "不要这样", "違う", "間違", "動かない", "ちがう",
)  # fmt: skip

NEGATORS = _words(
    "no not never nothing none isn't wasn't aren't don't doesn't didn't hardly without nobody "
    "nicht kein keine nie pas jamais nunca ni if"
)
"""Words that turn the next few around. `if` does as much: what is only supposed is no complaint."""

REQUESTS = _words(
    "add fix write make create build change update remove delete rename implement refactor move "
    "run check look find show explain list give generate convert replace use set clean document "
    "test try can could would please let's lets now next then also help what how when where which "
    "is are does do should"
)
"""First words of what is a request, in which a word like `wrong` is what it is about."""

ByFirst = Mapping[str, Sequence[tuple[str, ...]]]


def _by_first(phrases: Iterable[tuple[str, ...]]) -> ByFirst:
    """The phrases by their first word, the longest first."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for phrase in phrases:
        by_first.setdefault(phrase[0], []).append(phrase)
    return by_first


_HARMLESS_BY_FIRST, _ANYWHERE, _PRAISE = map(_by_first, (HARMLESS, ANYWHERE, PRAISE))
_TO_THE_AGENT = {
    first: phrases
    for first, phrases in _ANYWHERE.items()
    if first in ("you", "i", "as", "like", "still", "please")
}

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_NOT_SAID = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|^[ \t]*>[^\n]*|^[ \t]{4,}\S[^\n]*", re.MULTILINE
)
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[.,;:!?\n—–…]|\d+")
_STOPS = frozenset(".,;:!?\n—–…")
_ALONE = frozenset(("no", "nein", "non"))
NEGATION_REACH = 3
LOOKED_AT = 4_000
"""Unit: characters, of the beginning of a message."""


def mood(text: str) -> Mood:
    """What a message says about the work before it."""
    words = own_words(text[:LOOKED_AT])
    tokens = [t.lower().replace("’", "'") for t in _TOKEN.findall(words)]
    if _complains_unspaced(words):
        return Mood.COMPLAINT
    praised = _first(tokens, _PRAISE)
    tokens = _without_harmless(tokens)
    if _complains(tokens):
        return Mood.COMPLAINT
    return Mood.PRAISE if praised else Mood.NEUTRAL


def own_words(text: str) -> str:
    """The text without code, fences and quotations."""
    return _NOT_SAID.sub(" ", _FENCE.sub(" ", text))


def _complains(tokens: Sequence[str]) -> bool:
    words = [token for token in tokens if token not in _STOPS]
    if not words:
        return False
    if words[0] in _ALONE and (len(tokens) == 1 or tokens[1] in _STOPS):
        return True
    if any(tuple(words[: len(phrase)]) == phrase for phrase in OPENERS):
        return True
    if words[0] in REQUESTS and not words[0].startswith("is") and "you" not in words[:4]:
        return _first(tokens, _TO_THE_AGENT)
    return _first(tokens, _ANYWHERE)


def _first(tokens: Sequence[str], phrases: ByFirst) -> bool:
    """Whether one of the phrases stands in the tokens and is not turned around before it."""
    for at, token in enumerate(tokens):
        for phrase in phrases.get(token, ()):
            if tuple(tokens[at : at + len(phrase)]) == phrase and not _negated(tokens, at):
                return True
    return False


def _negated(tokens: Sequence[str], at: int) -> bool:
    for token in reversed(tokens[max(0, at - NEGATION_REACH) : at]):
        if token in _STOPS:
            return False
        if token in NEGATORS:
            return True
    return False


def _without_harmless(tokens: Sequence[str]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(tokens):
        for phrase in _HARMLESS_BY_FIRST.get(tokens[at], ()):
            if tuple(tokens[at : at + len(phrase)]) == phrase:
                out.append(";")
                at += len(phrase)
                break
        else:
            out.append(tokens[at])
            at += 1
    return _stripped(out)


def _stripped(tokens: Sequence[str]) -> list[str]:
    start = 0
    while start < len(tokens) and tokens[start] in _STOPS:
        start += 1
    return list(tokens[start:])


def _complains_unspaced(text: str) -> bool:
    if text.isascii():
        return False
    for harmless in UNSPACED_HARMLESS:
        text = text.replace(harmless, "。")
    return any(complaint in text for complaint in UNSPACED_COMPLAINTS)
