"""What following a house rule does to a draft, and then to the finished text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from skillgit.models.simulated.catalogue import HouseRule
from skillgit.models.simulated.drafts import Draft

Arguments = Mapping[str, str]

_WORD = re.compile(r"\S+")
_NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
]
_POINTS = ("What changed", "What it costs", "Who decides", "What is open", "What comes next")


def reshape(draft: Draft, rule: HouseRule, arguments: Arguments) -> None:
    """Change a draft as a rule asks."""
    if rule.effect:
        _EFFECTS[rule.effect](draft, rule, {**rule.defaults, **arguments})


def reword(text: str, rule: HouseRule, arguments: Arguments) -> str:
    """The finished text as a rule asks for it."""
    word = re.escape(arguments.get("text", "").strip())
    for pattern, replacement in rule.replace:
        text = re.sub(pattern.replace("{text}", word), replacement, text)
    return _WORDINGS[rule.wording](text) if rule.wording else text


def _number(arguments: Arguments) -> int:
    """The rule's `n`, written in digits or as a word."""
    given = arguments["n"].lower()
    return int(given) if given.isdigit() else _NUMBER_WORDS.index(given)


def _line(draft: Draft, rule: HouseRule, arguments: Arguments) -> str:
    text, subject = arguments.get("text", "").strip(), draft.subject
    return rule.line.format(text=text, subject=subject, Subject=subject.capitalize())


def _section(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    heading = f"{arguments.get('level') or '##'} {arguments['title'].strip()}"
    line = arguments.get("text") or f"See the plan for {draft.subject}, as agreed so far."
    for place, block in enumerate(draft.sections):
        if block.partition("\n")[0] == heading:
            draft.sections[place] = block if line in block else f"{block}\n- {line}"
            return
    draft.sections.append(f"{heading}\n- {line}")


def _labelled_line(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    """A line of its own near the end: `Confidence: high`."""
    whole = arguments.get("value", "").strip()
    given = whole.strip("<>[]{}()….")
    options = re.split(r"\s*[|/]\s*|\s+or\s+", given)
    usual = "high" if arguments["label"].lower() == "confidence" else "as agreed"
    is_open = given != whole and len(options) == 1
    value = usual if not given or is_open or usual in options else options[0]
    start = f"{arguments['label'].strip()}:"
    if not any(line.startswith(start) for line in draft.closing):
        draft.closing.append(f"{start} {value}")


def _close(draft: Draft, rule: HouseRule, arguments: Arguments) -> None:
    line = _line(draft, rule, arguments)
    if line not in draft.closing:
        draft.closing.append(line)


def _open(draft: Draft, rule: HouseRule, arguments: Arguments) -> None:
    draft.opening.insert(0, _line(draft, rule, arguments))


def _open_after(draft: Draft, rule: HouseRule, arguments: Arguments) -> None:
    draft.opening.append(_line(draft, rule, arguments))


def _phrase(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    """A sentence of its own at the front of the body."""
    if not draft.paragraphs:
        draft.paragraphs.append([])
    draft.paragraphs[0].insert(0, f"{arguments['text'].strip().rstrip('.')}.")


def _bullets(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    for place in range(len(draft.bullets), _number(arguments)):
        draft.bullets.append(f"{_POINTS[place % len(_POINTS)]}, in point {place + 1}.")


def _series(draft: Draft, rule: HouseRule, arguments: Arguments) -> None:
    """A paragraph with the rule's item `n` times."""
    items = (rule.item.format(n=place + 1) for place in range(_number(arguments)))
    draft.paragraphs.append([rule.line.format(series=rule.between.join(items))])


def _paragraphs(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    wanted = max(1, _number(arguments))
    sentences = [sentence for part in draft.paragraphs for sentence in part]
    while len(sentences) < wanted:
        sentences.append("Nothing else changed, as far as anyone knows.")
    size, longer = divmod(len(sentences), wanted)
    cuts = [size * place + min(place, longer) for place in range(wanted + 1)]
    draft.paragraphs = [sentences[a:b] for a, b in pairwise(cuts)]


def _at_least_words(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    while len(_WORD.findall(draft.text())) < _number(arguments):
        draft.paragraphs.append(["Further detail is kept with the plan, and may change later."])


def _at_least_sentences(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    while draft.sentences() < _number(arguments):
        draft.paragraphs[-1:] = [[*(draft.paragraphs or [[]])[-1], "The rest is as it was."]]


def _at_most_sentences(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    while draft.sentences() > max(1, _number(arguments)):
        draft.drop_sentence()


def _at_most_words(draft: Draft, _: HouseRule, arguments: Arguments) -> None:
    """First the body gives way, then whatever stands last."""
    limit = _number(arguments)
    while len(_WORD.findall(draft.text())) > limit and draft.sentences() > 1:
        draft.drop_sentence()
    if len(words := _WORD.findall(draft.text())) > limit:
        draft.opening, draft.bullets, draft.sections, draft.closing = [], [], [], []
        draft.paragraphs = [[" ".join(words[:limit])]]


_EFFECTS: Mapping[str, Callable[[Draft, HouseRule, Arguments], None]] = {
    "section": _section,
    "labelled_line": _labelled_line,
    "close": _close,
    "open": _open,
    "open_after": _open_after,
    "phrase": _phrase,
    "bullets": _bullets,
    "series": _series,
    "paragraphs": _paragraphs,
    "at_least_words": _at_least_words,
    "at_least_sentences": _at_least_sentences,
    "at_most_sentences": _at_most_sentences,
    "at_most_words": _at_most_words,
}


def _metric_units(text: str) -> str:
    return re.sub(r"\b(\d+) miles\b", lambda m: f"{round(int(m[1]) * 1.609)} kilometres", text)


_WORDINGS: Mapping[str, Callable[[str], str]] = {
    "metric_units": _metric_units,
    "lower_case": str.lower,
    "upper_case": str.upper,
    "as_json": lambda text: json.dumps({"answer": text}, ensure_ascii=False),
}
