"""When other words say the same: the hard tokens of a statement, and which pairs are rewordings.

Similarity is the token-sort ratio of rapidfuzz over the keys. It says that two statements are
about the same thing, not that they agree: numbers, dates, addresses, negations and names must
agree exactly. In scripts without letter case a name looks like any word, so every word counts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.characters import hidden
from engine.statements import Statement, unmarked

SIMILAR: Final = 80.0
"""Token-sort ratio, 0 to 100, from which a statement of the result may be a rewording."""
NEAR: Final = 55.0
"""Ratio from which a dropped statement is shown beside what took its place."""
LONGEST: Final = 2000
"""Characters of a key up to which similarity is looked at; longer ones match exactly or not."""
COMPARED: Final = 48
"""Statements of a result that one statement is compared with: a bound on the work."""

_RUN = re.compile(r"[^\W_]+")
_EDGES = "\"'“”‘’«»()[]{}<>,;:!?。、，！？…|*`"
_DATE = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3}){1,6}")
_SIGNS = frozenset("= == != < > <= >= ≤ ≥ ≠ -> <- => → ← ⇒".split())
_DATES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december today tomorrow yesterday hourly daily
    nightly weekly monthly quarterly yearly annually noon midnight""".split()
)
_COUNTS = frozenset(
    """zero two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
    sixty seventy eighty ninety hundred thousand million half double twice""".split()
)
_NEGATIONS = frozenset(
    """no not never none nobody nothing nowhere neither nor without stop stopped avoid except unless
    deprecated obsolete only rarely hardly nicht kein keine nie ohne pas jamais ningún nunca
    sin""".split()
)
_SMALL = frozenset(
    """a an and are as at be been by for from has have he her his i if in into is it its of on or
    our she so that the their them then there these they this to use uses user users was we were
    when where which who will with you your""".split()
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """What of a statement must not change when it is reworded.

    `names` are capitalised words and, in scripts without case, all words, case-folded; `exact` are
    identifiers, as written; `first` is the word that only its place may have capitalised.
    `words` and `written` are all words, case-folded and as written; `order` is the sequence of the
    hard ones.
    """

    numbers: Counter[str]
    dates: Counter[str]
    urls: frozenset[str]
    negations: Counter[str]
    names: frozenset[str]
    exact: frozenset[str]
    first: str
    words: frozenset[str]
    written: frozenset[str]
    order: tuple[str, ...]


@lru_cache(maxsize=4096)
def tokens(text: str) -> Tokens:
    """The hard tokens of a text, in time linear in its length."""
    numbers, dates, negations = Counter[str](), Counter[str](), Counter[str]()
    urls, names, exact = set[str](), set[str](), set[str]()
    words, written, order = set[str](), set[str](), list[str]()
    first = ""
    ticked = text.split("`")
    if len(ticked) % 2:
        exact.update(" ".join(code.split()) for code in ticked[1::2] if code.strip())
    bare = unmarked(text)
    if bare.startswith(("[ ] ", "[x] ", "[X] ")):
        negations[bare[:3].lower()] += 1
        bare = bare[4:]
    negations["~~"] = bare.count("~~")
    for at, chunk in enumerate(bare.replace("~~", "").split()):
        if chunk in _SIGNS:
            numbers[chunk] += 1
            continue
        word = chunk
        if "://" in chunk:
            start = chunk.index("://")
            while start > 0 and (chunk[start - 1].isalnum() or chunk[start - 1] in "+.-"):
                start -= 1
            url = chunk[start:].rstrip(".>)]" + _EDGES)
            urls.add(url)
            order.append(url)
            written.add(url)
            word = chunk[:start]
        word = word.strip(_EDGES).rstrip("." + _EDGES)
        if not word:
            continue
        folded = word.casefold().replace("’", "'")
        written.add(word)
        words.add(folded)
        runs = _RUN.findall(word)
        written.update(runs)
        words.update(run.casefold() for run in runs)
        folded = folded.removesuffix("'s")
        words.add(folded)
        if any(char.isdigit() for char in word):
            kind = dates if _DATE.fullmatch(word) else numbers
            plain = folded.replace(",", "") if _THOUSANDS.fullmatch(folded) else folded
            kind[plain] += 1
            order.append(plain)
        elif folded in _DATES or folded.removesuffix("s") in _DATES:
            dates[folded.removesuffix("s")] += 1
            order.append(folded.removesuffix("s"))
        elif folded in _COUNTS:
            numbers[folded] += 1
            order.append(folded)
        elif folded in _NEGATIONS or folded in {"cannot", "can't"} or folded.endswith("n't"):
            negations[folded if folded in _NEGATIONS else "not"] += 1
        elif _is_identifier(word):
            exact.add(word)
            order.append(word)
        elif word[0].isupper() and not at:
            first = folded if folded not in _SMALL else ""
        elif word[0].isupper() and folded not in _SMALL:
            names.add(folded)
            order.append(folded)
        elif any(_is_caseless(char) for char in word):
            names.add(folded)
    return Tokens(
        numbers, dates, frozenset(urls), +negations, frozenset(names), frozenset(exact), first,
        frozenset(words), frozenset(written), tuple(order),
    )  # fmt: skip


def _is_identifier(word: str) -> bool:
    rest = word[1:]
    return word not in {"e.g", "i.e"} and (
        any(char in "_@/\\=." for char in rest)
        or word[0] in "-@/~$#."
        or rest != rest.lower()
        or "::" in word
    )


def _is_caseless(char: str) -> bool:
    return char > "\u02af" and char.isalpha() and char.lower() == char.upper()


def differences(source: Statement, result: Statement) -> tuple[str, ...]:
    """The kinds of hard token in which two statements differ; none for a true rewording."""
    a, b = tokens(source.text), tokens(result.text)
    found: list[str] = []
    if a.dates != b.dates:
        found.append("date")
    if a.numbers != b.numbers:
        found.append("number")
    if a.urls != b.urls:
        found.append("url")
    if a.negations != b.negations:
        found.append("negation")
    same_words = source.key == result.key and changed_letters(source.text, result.text)
    if same_words or _names_missing(a, b) or _names_missing(b, a):
        found.append("name")
    return tuple(found)


def _names_missing(a: Tokens, b: Tokens) -> bool:
    if not a.names <= b.words or (a.first and not _holds(b, a.first)):
        return True
    return any(
        name not in b.written and not all(part in b.written for part in name.split())
        for name in a.exact
    )


def _holds(other: Tokens, word: str) -> bool:
    """Whether a text has a word, or a form of it that is no name."""
    if word in other.words:
        return True
    stem = word[: max(3, len(word) - 2)]
    return len(word) > 3 and any(
        form.startswith(stem) and abs(len(form) - len(word)) <= 3
        for form in other.written
        if form.islower()
    )


def changed_letters(source: str, result: str) -> bool:
    """Whether capitals that mean something differ (`IT` and `it`) between two texts of one key."""
    return source != result and _capitals(source) != _capitals(result)


def _capitals(text: str) -> list[str]:
    """Words with a capital that is not their first letter, and single ones but for `A`."""
    return [
        run
        for run in _RUN.findall(text)
        if run[1:] != run[1:].lower() or (len(run) == 1 and run.isupper() and run != "A")
    ]


def other_order(source: Statement, result: Statement) -> bool:
    """Whether the same words, or the same hard tokens, stand in another order."""
    a, b = _RUN.findall(source.key), _RUN.findall(result.key)
    if a != b and sorted(a) == sorted(b):
        return True
    x, y = tokens(source.text).order, tokens(result.text).order
    return x != y and sorted(x) == sorted(y)


def _says_all(source: Statement, result: Statement) -> bool:
    """Whether no word of the source but small ones is missing in the result."""
    said = tokens(result.text)
    return all(
        word in said.words or word in _SMALL or _holds(said, word)
        for word in (run.casefold() for run in _RUN.findall(source.key))
    )


def group(statement: Statement) -> str:
    """What a statement is compared among: prose, code, and each kind of frontmatter."""
    prose = statement.kind not in {"description", "field", "code"}
    return "text" if prose else statement.kind


@dataclass(frozen=True, slots=True)
class Pairing:
    """`reworded`: source -> the result that says the same. `near`: what stands in its place."""

    reworded: Mapping[int, int]
    near: Mapping[int, int]


def pair(
    sources: Sequence[Statement], results: Sequence[Statement], taken: Collection[int]
) -> Pairing:
    """Pair sources that stand nowhere as they are with results, the most similar first.

    Indexes are into `sources` and `results`; `taken` are results that are a source's exact words.
    One result is the rewording of one source. A result that is taken, or already paired, counts for
    a further source only if that one's words are all in it: else a fact that was dropped would pass
    for its neighbour.
    """
    scored = _Candidates(results)
    near: dict[int, int] = {}
    possible: list[tuple[float, int, int]] = []
    for at, source in enumerate(sources):
        found = scored.of(source)
        if found:
            near[at] = found[0][1]
        if source.kind == "code":
            continue
        possible += [
            (-score, at, to)
            for score, to in found
            if score >= SIMILAR and not differences(source, results[to])
        ]
    possible.sort()
    reworded: dict[int, int] = {}
    used = set(taken)
    for _, at, to in possible:
        if at not in reworded and to not in used:
            reworded[at] = to
            used.add(to)
    for _, at, to in possible:
        if at not in reworded and _says_all(sources[at], results[to]):
            reworded[at] = to
    return Pairing(reworded, near)


class _Candidates:
    """The results that a source may be compared with: all of a few, else those of rare words."""

    def __init__(self, results: Sequence[Statement]) -> None:
        self._results = results
        self._of_group: defaultdict[str, list[int]] = defaultdict(list)
        self._by_word: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for at, result in enumerate(results):
            if len(result.key) <= LONGEST:
                self._of_group[group(result)].append(at)
        for kind, members in self._of_group.items():
            if len(members) > COMPARED:
                for at in members:
                    for word in set(_RUN.findall(results[at].key)):
                        self._by_word[kind, word].append(at)

    def of(self, source: Statement) -> list[tuple[float, int]]:
        """(ratio, result) for every near one, the nearest first."""
        from rapidfuzz import fuzz, process  # headless commands start without it

        if len(source.key) > LONGEST:
            return []
        kind = group(source)
        members = self._of_group.get(kind, [])
        if len(members) > COMPARED:
            members = self._sharing(kind, source.key)
        keys = {at: self._results[at].key for at in members}
        found = process.extract(
            source.key, keys, scorer=fuzz.token_sort_ratio, score_cutoff=NEAR, limit=None
        )
        return sorted(((score, at) for _, score, at in found), key=lambda f: (-f[0], f[1]))

    def _sharing(self, kind: str, key: str) -> list[int]:
        """The results that share the most, and the rarest, words with a key."""
        weights: defaultdict[int, float] = defaultdict(float)
        words = {(len(self._by_word.get((kind, word), ())), word) for word in _RUN.findall(key)}
        budget = COMPARED * 8
        for count, word in sorted(words):
            if not count:
                continue
            budget -= count
            if budget < 0 and weights:
                break
            for at in self._by_word[kind, word][: COMPARED * 8]:
                weights[at] += 1.0 / count
        best = sorted(weights, key=lambda at: (-weights[at], at))
        return sorted(best[:COMPARED])


def unseen(statement: Statement, source: Statement | None = None) -> tuple[str, ...]:
    """The flag for characters that nobody sees, if the source did not hold them."""
    found = {hide.char for hide in hidden(statement.text)}
    if found and source is not None:
        found -= {hide.char for hide in hidden(source.text)}
    return ("hidden",) if found else ()
