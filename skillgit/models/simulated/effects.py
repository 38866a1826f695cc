"""What following a house rule does to a draft (`Shape`) or to the finished text (`Wording`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from skillgit.models.simulated.drafts import Draft

Arguments = Mapping[str, str]
Shape = Callable[[Draft, Arguments], None]
Wording = Callable[[str, Arguments], str]

_WORD = re.compile(r"\S+")
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}


def number(arguments: Arguments, default: int) -> int:
    """The rule's `n`, written in digits or as a word."""
    given = arguments.get("n", "").lower()
    return int(given) if given.isdigit() else _NUMBER_WORDS.get(given, default)


# ── the draft ────────────────────────────────────────────────────────────────────────────────


def section(draft: Draft, arguments: Arguments) -> None:
    """A section under the asked-for heading, with the asked-for text if there is one."""
    level = arguments.get("level") or "##"
    title = arguments["title"].strip()
    heading = f"{level} {title}"
    line = arguments.get("text") or f"See the plan for {draft.subject}, as agreed so far."
    for place, block in enumerate(draft.sections):
        if block.partition("\n")[0] == heading:
            draft.sections[place] = block if line in block else f"{block}\n- {line}"
            return
    draft.sections.append(f"{heading}\n- {line}")


def labelled_line(draft: Draft, arguments: Arguments) -> None:
    """A line of its own near the end: `Confidence: high`."""
    given = arguments.get("value", "").strip().strip("<>[]{}()….")
    options = re.split(r"\s*[|/]\s*|\s+or\s+", given)
    usual = "high" if arguments["label"].lower() == "confidence" else "as agreed"
    is_open = given != arguments.get("value", "").strip() and len(options) == 1
    value = usual if not given or is_open or usual in options else options[0]
    start = f"{arguments['label'].strip()}:"
    if not any(line.startswith(start) for line in draft.closing):
        draft.closing.append(f"{start} {value}")


def confidence_line(draft: Draft, arguments: Arguments) -> None:
    """A confidence line in the usual form."""
    labelled_line(draft, {"label": "Confidence", **arguments})


def source_line(draft: Draft, _: Arguments) -> None:
    """A line that names a source."""
    _close(draft, "Source: internal tracker")


def closing_text(draft: Draft, arguments: Arguments) -> None:
    """The asked-for words as the last line."""
    _close(draft, arguments["text"].strip())


def sign_off(draft: Draft, arguments: Arguments) -> None:
    """A sign-off as the last line."""
    _close(draft, arguments.get("text", "").strip() or "Kind regards")


def postscript(draft: Draft, _: Arguments) -> None:
    """A postscript after everything else."""
    _close(draft, f"P.S. More on {draft.subject} on request.")


def opening_text(draft: Draft, arguments: Arguments) -> None:
    """The asked-for words before everything else."""
    draft.opening.insert(0, arguments["text"].strip())


def summary_line(draft: Draft, _: Arguments) -> None:
    """A one-line summary at the top."""
    draft.opening.append(f"TL;DR: {draft.subject} is on track.")


def angle_title(draft: Draft, _: Arguments) -> None:
    """A title in double angle brackets at the top."""
    draft.opening.insert(0, f"<<{draft.subject.capitalize()}>>")


def phrase(draft: Draft, arguments: Arguments) -> None:
    """The asked-for word or phrase, in a sentence of its own at the front of the body."""
    first = draft.paragraphs[0] if draft.paragraphs else []
    if not draft.paragraphs:
        draft.paragraphs.append(first)
    first.insert(0, f"{arguments['text'].strip().rstrip('.')}.")


def bullets(draft: Draft, arguments: Arguments) -> None:
    """At least `n` bullet points."""
    points = ("What changed", "What it costs", "Who decides", "What is open", "What comes next")
    for place in range(len(draft.bullets), number(arguments, 3)):
        draft.bullets.append(f"{points[place % len(points)]}, in point {place + 1}.")


def paragraphs(draft: Draft, arguments: Arguments) -> None:
    """Exactly `n` paragraphs in the body."""
    wanted = max(1, number(arguments, 3))
    sentences = [sentence for part in draft.paragraphs for sentence in part]
    while len(sentences) < wanted:
        sentences.append("Nothing else changed, as far as anyone knows.")
    size, longer = divmod(len(sentences), wanted)
    cuts = [size * place + min(place, longer) for place in range(wanted + 1)]
    draft.paragraphs = [sentences[a:b] for a, b in pairwise(cuts)]


def placeholders(draft: Draft, arguments: Arguments) -> None:
    """At least `n` placeholders in square brackets."""
    names = " ".join(f"[name {place + 1}]" for place in range(number(arguments, 1)))
    draft.paragraphs.append([f"To be filled in, please: {names}."])


def highlights(draft: Draft, arguments: Arguments) -> None:
    """At least `n` highlighted spans."""
    spans = ", ".join(f"*point {place + 1}*" for place in range(number(arguments, 1)))
    draft.paragraphs.append([f"Most of all, note {spans}."])


def at_least_words(draft: Draft, arguments: Arguments) -> None:
    """Filled up with harmless sentences until there are `n` words."""
    wanted = number(arguments, 100)
    while len(_WORD.findall(draft.text())) < wanted:
        draft.paragraphs.append(["Further detail is kept with the plan, and may change later."])


def at_least_sentences(draft: Draft, arguments: Arguments) -> None:
    """Filled up with harmless sentences until there are `n`."""
    while draft.sentences() < number(arguments, 5):
        draft.paragraphs[-1:] = [[*(draft.paragraphs or [[]])[-1], "The rest is as it was."]]


def at_most_sentences(draft: Draft, arguments: Arguments) -> None:
    """The body cut down to `n` sentences."""
    while draft.sentences() > max(1, number(arguments, 5)):
        draft.drop_sentence()


def at_most_words(draft: Draft, arguments: Arguments) -> None:
    """Cut to `n` words: first the body gives way, then whatever stands last."""
    limit = number(arguments, 100)
    while len(_WORD.findall(draft.text())) > limit and draft.sentences() > 1:
        draft.drop_sentence()
    if len(_WORD.findall(draft.text())) > limit:
        kept = " ".join(_WORD.findall(draft.text())[:limit])
        draft.opening, draft.bullets, draft.sections, draft.closing = [], [], [], []
        draft.paragraphs = [[kept]]


def _close(draft: Draft, line: str) -> None:
    if line not in draft.closing:
        draft.closing.append(line)


# ── the finished text ────────────────────────────────────────────────────────────────────────


def iso_dates(text: str, _: Arguments) -> str:
    """Dates as year, month and day with hyphens."""
    return re.sub(r"\b(\d\d)/(\d\d)/(\d{4})\b", r"\3-\1-\2", text)


def metric_units(text: str, _: Arguments) -> str:
    """Distances in kilometres."""
    return re.sub(
        r"\b(\d+) miles\b", lambda found: f"{round(int(found[1]) * 1.609)} kilometres", text
    )


def no_first_person(text: str, _: Arguments) -> str:
    """The writer kept out of the text."""
    names = {"i": "the author", "we": "the team", "my": "the", "our": "the", "us": "the team"}
    return re.sub(r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur|us)\b", lambda found: names[found[0].lower()], text)


def no_exclamation(text: str, _: Arguments) -> str:
    """Full stops for exclamation marks."""
    return text.replace("!", ".")


def without_word(text: str, arguments: Arguments) -> str:
    """The forbidden word and its inflections left out."""
    word = re.escape(arguments["text"].strip())
    return re.sub(rf"\b{word}\w*\b[ \t]?", "", text, flags=re.IGNORECASE)


def no_commas(text: str, _: Arguments) -> str:
    """No comma anywhere."""
    return text.replace(",", "")


def lower_case(text: str, _: Arguments) -> str:
    """All in small letters."""
    return text.lower()


def upper_case(text: str, _: Arguments) -> str:
    """All in capital letters."""
    return text.upper()


def as_json(text: str, _: Arguments) -> str:
    """The answer as one JSON object."""
    return json.dumps({"answer": text}, ensure_ascii=False)


def in_quotes(text: str, _: Arguments) -> str:
    """The whole answer in double quotation marks."""
    return f'"{text}"'
