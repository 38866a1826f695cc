"""Tasks that say the same in almost the same words, so that a split never parts them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import ceil

THRESHOLD = 0.9
"""The share of word trigrams (Jaccard) from which two texts are near-duplicates."""

_KEPT = ("L", "M", "N")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

Trigram = tuple[str, str, str]


def fold(text: str) -> str:
    """The text with case, white space and punctuation folded away, letters and digits kept.

    A text without either is itself.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(c for c in folded if unicodedata.category(c)[0] in _KEPT)
    return kept or text


def trigrams(text: str) -> frozenset[Trigram]:
    """The text's word trigrams; where a script writes no spaces, a letter is a word."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def clusters(texts: Sequence[str]) -> list[list[int]]:
    """The indices of the texts, grouped so that near-duplicates are together.

    Shape: a partition of `range(len(texts))`, each group in order, groups by their first.
    """
    parent = list(range(len(texts)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for left, right in _pairs(texts):
        a, b = sorted((root(left), root(right)))
        parent[b] = a
    groups: dict[int, list[int]] = defaultdict(list)
    for index in range(len(texts)):
        groups[root(index)].append(index)
    return list(groups.values())


def _pairs(texts: Sequence[str]) -> Iterable[tuple[int, int]]:
    first: dict[str, int] = {}
    for index, text in enumerate(texts):
        known = first.setdefault(fold(text), index)
        if known != index:
            yield known, index
    yield from _similar(first.values(), [trigrams(text) for text in texts])


def _similar(
    indices: Iterable[int], sets: Sequence[frozenset[Trigram]]
) -> Iterable[tuple[int, int]]:
    """Pairs at the threshold, found by their rarest trigrams.

    Two sets that share nine tenths share one among the rarest tenth of either, so only those are
    looked up.
    """
    chosen = [index for index in indices if sets[index]]
    rarity = Counter(trigram for index in chosen for trigram in sets[index])
    holders: dict[Trigram, list[int]] = defaultdict(list)
    for index in chosen:
        own = sets[index]
        rarest = sorted(own, key=lambda trigram: (rarity[trigram], trigram))
        seen: set[int] = set()
        for trigram in rarest[: len(own) - ceil(THRESHOLD * len(own)) + 1]:
            for other in holders[trigram]:
                if other not in seen:
                    seen.add(other)
                    if len(own & sets[other]) >= THRESHOLD * len(own | sets[other]):
                        yield other, index
            holders[trigram].append(index)
