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
    groups = _Groups(len(texts))
    first: dict[str, int] = {}
    for index, text in enumerate(texts):
        groups.join(first.setdefault(fold(text), index), index)
    _join_similar(sorted(first.values()), [trigrams(text) for text in texts], groups)
    return groups.listed()


class _Groups:
    """A partition of numbers, of which two groups can be made one."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, index: int) -> int:
        """The number that stands for the group an index is in."""
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def join(self, left: int, right: int) -> None:
        """Make the groups of two indices one."""
        a, b = sorted((self.root(left), self.root(right)))
        self._parent[b] = a

    def listed(self) -> list[list[int]]:
        """The groups, each in order."""
        groups: dict[int, list[int]] = defaultdict(list)
        for index in range(len(self._parent)):
            groups[self.root(index)].append(index)
        return list(groups.values())


def _join_similar(
    indices: Iterable[int], sets: Sequence[frozenset[Trigram]], groups: _Groups
) -> None:
    """Join the groups of texts at the threshold, looked up by their rarest trigrams.

    Two sets that share nine tenths share one among the rarest tenth of either, so only those are
    looked up; and what is in one group already is not compared.
    """
    chosen = [index for index in indices if sets[index]]
    rarity = Counter(trigram for index in chosen for trigram in sets[index])
    holders: dict[Trigram, list[int]] = defaultdict(list)
    for index in chosen:
        own = sets[index]
        rarest = sorted(own, key=lambda trigram: (rarity[trigram], trigram))
        rarest = rarest[: len(own) - ceil(THRESHOLD * len(own)) + 1]
        for other in set().union(*(holders[trigram] for trigram in rarest)):
            if groups.root(other) != groups.root(index) and _alike(own, sets[other]):
                groups.join(other, index)
        for trigram in rarest:
            holders[trigram].append(index)


def _alike(left: frozenset[Trigram], right: frozenset[Trigram]) -> bool:
    shared = len(left & right)
    return shared >= THRESHOLD * (len(left) + len(right) - shared)
