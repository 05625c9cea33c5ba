"""What cannot be seen is shown as a mark, and nothing that drives a terminal passes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import characters
from engine.characters import (
    MARKS_ON_A_BASE,
    Hidden,
    Shown,
    has_visible,
    hidden,
    is_assigned,
    is_hidden,
    visible,
)

ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
TEXAS = "🏴\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f"
TAGS = {chr(code) for code in range(0xE0020, 0xE0080)}
JOINERS = {*"\u200c\u200d\ufe0e\ufe0f"}
# Blank or invisible, though the database calls them letters or symbols.
BLANK_LETTERS = {*"\u115f\u1160\u3164\uffa0\u2800\ufffc\U00013441\U00013442\U0001d159"}
# Cf with a shape of its own: Prepended_Concatenation_Mark, and the Syriac abbreviation mark.
SIGNS = {*"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"}
# A spacing mark since Unicode 15, a combining one to older Pythons.
SPACING = {"\U0001171e"}
HALVES = {chr(code) for code in range(0x1F1E6, 0x1F200)}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m", "a␛[31m"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m\x9d", "<U+009B CSI>31m<U+009D OSC>"),
        ("\x80", "<U+0080>"),
        ("x\u202ey\u2066", "x<U+202E RLO>y<U+2066 LRI>"),
        ("\x85\u2028\u2029", "<U+0085 NEL><U+2028 LS><U+2029 PS>"),
        ("z\u200bw\u00ad", "z<U+200B ZWSP>w<U+00AD SHY>"),
        ("\udce9", "<byte E9>"),
        ("\ud83d\ude00", "<U+D83D><U+DE00>"),
        ("\u0378", "<U+0378>"),
        ("\ufdd0\uffff\U0010ffff", "<U+FDD0><U+FFFF><U+10FFFF>"),
        ("\ue000", "<U+E000>"),
        ("\ufeffa", "<U+FEFF BOM>a"),
        ("\u115f\u3164\u2800", "<U+115F HCF><U+3164 HF><U+2800 BLANK>"),
        ("a\U00016fe4\U00013441", "a<U+16FE4><U+13441>"),
    ],
)
def test_what_cannot_be_seen_becomes_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(text).marks


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "e\u0301 caf\u00e9",
        "a\u00a0b\u3000c",
        "日本語",
        "한국어 \u1112\u1161\u11ab",
        "นี่",
        "\u05d1\u05b0\u05bc\u05e8\u05b5\u05d0\u05e9\u05b4\u05c1\u05d9\u05ea",
        "\u0600\u0661",
        "👩\u200d👩\u200d👦",
        "👩🏽\u200d🤝\u200d👨🏿",
        "👁\ufe0f\u200d🗨\ufe0f",
        "🏳\ufe0f\u200d🌈",
        "❤\ufe0f ☎\ufe0e ▶\ufe0f",
        # Emoji that are no symbols to the database: a letter, arrows, squares, punctuation.
        "ℹ\ufe0f ⤴\ufe0f ↔\ufe0f ◽\ufe0f ‼\ufe0f 〰\ufe0f ©\ufe0f",
        "1\ufe0f\u20e3 #\ufe0f\u20e3",
        "🇯🇵",
        "🇯🇵🇫🇷",
        ENGLAND,
        "می\u200cخواهم",
        "۲۰\u200cساله",
        "क\u094d\u200dष",
        "র\u200d\u09cdয",
        "ශ\u0dca\u200dර",
        # Kawi, younger than Python 3.11: the shipped table answers for it
        "\U00011f12\u200d\U00011f13",
        "\U0001fae9",
        "<U+202E RLO> ␛ <byte E9>",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert visible(text).marks == ()
    assert hidden(text) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        # selectors on what takes none, twice, or on a number that is no key
        ("a\ufe0f", "a<U+FE0F VS16>"),
        ("°\ufe0f", "°<U+FE0F VS16>"),
        ("8\ufe0f080", "8<U+FE0F VS16>080"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F VS16>"),
        ("❤\ufe01", "❤<U+FE01>"),
        ("\u2800\ufe0f", "<U+2800 BLANK><U+FE0F VS16>"),
        # joiners at an edge, between letters of other scripts, numbers and signs
        ("🙂\u200d", "🙂<U+200D ZWJ>"),
        ("\u200d🙂", "<U+200D ZWJ>🙂"),
        ("🙂\u200d\u2800", "🙂<U+200D ZWJ><U+2800 BLANK>"),
        ("🙂\u200d\u200d🙂", "🙂<U+200D ZWJ><U+200D ZWJ>🙂"),
        ("pay\u200cpal", "pay<U+200C ZWNJ>pal"),
        ("ก\u200cข", "ก<U+200C ZWNJ>ข"),
        ("\u1c90\u200c\u1c91", "\u1c90<U+200C ZWNJ>\u1c91"),
        ("\uab70\u200d\uab71", "\uab70<U+200D ZWJ>\uab71"),
        ("۱\u200c۲", "۱<U+200C ZWNJ>۲"),
        ("ب،\u200cب", "ب،<U+200C ZWNJ>ب"),
        ("ب\u200c\u200cب", "ب<U+200C ZWNJ><U+200C ZWNJ>ب"),
        # a joiner beside a combining mark that does not stay
        ("\u064b\u200cب", "<U+064B><U+200C ZWNJ>ب"),
        ("ب\u064b\u064b\u064b\u064b\u200d\u064b", "ب" + "\u064b" * 4 + "<U+200D ZWJ><U+064B>"),
        # halves of flags, and tags that spell no flag that is drawn
        ("🇯", "<U+1F1EF>"),
        ("🇯🇵🇫", "🇯🇵<U+1F1EB>"),
        ("🇯\u200b🇵", "<U+1F1EF><U+200B ZWSP><U+1F1F5>"),
        ("a\U000e0041", "a<U+E0041>"),
        (TEXAS, "🏴<U+E0075><U+E0073><U+E0074><U+E0078><U+E007F>"),
        (ENGLAND[1:3], "<U+E0067><U+E0062>"),
        (ENGLAND + "\U000e007f", ENGLAND + "<U+E007F>"),
        (ENGLAND[:3], "🏴<U+E0067><U+E0062>"),
    ],
)
def test_what_joins_or_selects_is_marked_where_nothing_needs_it(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown
    assert hidden(text)


def test_newline_and_tab_are_kept_on_request_and_nothing_else() -> None:
    assert visible("a\n\tb\x1b\r", keep="\n\t\x1b\r\u202e") == "a\n\tb␛␍"
    assert visible("a\n\tb", keep="\n") == "a\n␉b"


def test_a_pile_of_combining_marks_is_cut_down() -> None:
    shown = visible("Z" + "\u0300" * 50)
    assert shown == "Z" + "\u0300" * MARKS_ON_A_BASE + "<U+0300>" * (50 - MARKS_ON_A_BASE)


@pytest.mark.parametrize("before", ["", " ", "\n", "\u00a0", "\u200b", "\x1b"])
def test_a_combining_mark_without_a_base_is_marked(before: str) -> None:
    assert visible(before + "\u0301\u0301", keep="\n").endswith("<U+0301><U+0301>")


def test_a_mark_that_a_file_spells_is_none_of_ours() -> None:
    shown = visible("<U+202E RLO>\u202e␛\x1b")
    assert shown == "<U+202E RLO><U+202E RLO>␛␛"
    assert shown.marks == ((12, 24), (25, 26))


def test_hidden_characters_are_told_by_place_and_name() -> None:
    assert hidden("a\r\n\tb\u202e\udce9\x1b") == (
        Hidden(5, "\u202e", "<U+202E RLO>"),
        Hidden(6, "\udce9", "<byte E9>"),
        Hidden(7, "\x1b", "␛"),
    )


BLANK = [
    "", " \t\r\n", "\u00a0\u3000\u2003", "\u200e\u200f\u202a\u202e", "\u2066\u2069\u061c",
    "\u206a\u206b\u206c\u206d\u206e\u206f", "\u00ad\u180e", "\u034f", "\u3164\uffa0\u115f\u1160",
    "\u2800", "\ufe00\ufe0f\U000e0100\u180b", "\u0300\u0301\u0483\u20e3", "\ud800\udce9",
    "\u2061\u2062\u2063\u2064", "\ufff9\ufffa\ufffb", "\ufffc", "\u17b4\u17b5",
    "\U000e0001\U000e0041\U000e007f", "\U0001d159\U0001d173\U0001d17a", "\U0001bca0\U0001bca3",
    "\ue000\U000f0000", "\u0378\uffff", "\u200b\u200c\u200d\u2060\ufeff", "\x00\x1b\x7f\x9b",
    "\U00013430\U00013441", "\U00016fe4",
]  # fmt: skip


@pytest.mark.parametrize("text", BLANK)
def test_what_puts_no_ink_on_the_screen_is_not_visible(text: str) -> None:
    assert not has_visible(text)
    assert not any(map(has_visible, text))


@pytest.mark.parametrize(
    "text",
    ["窓", "न", "हिन्दी", "مرحبا", "e\u0301", "\u200bx", "🇯🇵", ENGLAND, "👩\u200d👦", "# Net", "."],
)
def test_what_puts_ink_on_the_screen_is_visible(text: str) -> None:
    assert has_visible(text)


@pytest.mark.parametrize(
    "char",
    [
        *"\x00\n\x1b\x7f\x85\u00ad\u034f\u061c\u180b\u180e\u200b\u200c\u200d\u202e\u2028\u2065",
        *"\u2069\u206a\u2800\u3164\ufe0f\ufeff\ufff0\ufffb\U000e0001\U000e0041\U000e0100",
        *"\ud800\udfff\ufdd0\ufffe\U0001ffff\U0010ffff",
    ],
)
def test_a_character_that_cannot_be_seen_is_hidden_on_its_own(char: str) -> None:
    assert is_hidden(char)


@pytest.mark.parametrize("char", [*" a~\u00a0\u3000\u0301é窓❤🇯\u0600\u0378\ue000"])
def test_a_character_with_a_look_or_a_width_is_not_hidden(char: str) -> None:
    assert not is_hidden(char)


def test_every_code_point_is_shown_as_it_is_only_if_it_has_a_look() -> None:
    """Against the database of the running Python, as far as it knows the character."""
    shaped = SIGNS | SPACING
    for start in range(0, 0x110000, 0x1000):
        chars = [chr(code) for code in range(start, start + 0x1000) if code != 0x0A]
        shown = visible("\n".join(chars), keep="\n")
        lines = list(zip(chars, shown.split("\n"), strict=True))
        ours = {*"".join(line for char, line in lines if line != char)}
        assert all(" " <= part <= "~" or "\u2400" <= part <= "\u2421" for part in ours)
        for char in (char for char, line in lines if line == char):
            category = unicodedata.category(char)
            # Cn: younger than this Python; the shipped table answers for it.
            looks = category[0] in "LNPS" or category in {"Mc", "Zs", "Cn"}
            assert looks or char in shaped, hex(ord(char))
            assert char not in BLANK_LETTERS
            assert is_assigned(char)


def test_every_character_with_a_look_that_python_knows_is_shown_as_it_is() -> None:
    """A Python that knows more than the shipped table fails here: make the table anew."""
    looks = [
        char
        for char in map(chr, range(0x110000))
        if unicodedata.category(char)[0] in "LNPS" and char not in BLANK_LETTERS | HALVES
    ]
    assert len(looks) > 100_000
    assert visible("".join(looks)).marks == ()


def test_what_was_judged_is_remembered_within_bounds() -> None:
    visible("".join(map(chr, range(0x3000, 0x6000))) + "\x1b")
    [is_hidden(chr(code)) for code in range(0x3000, 0x6000)]
    memories = [f.cache_info() for f in vars(characters).values() if hasattr(f, "cache_info")]
    assert memories
    assert all(memory.currsize <= 4096 for memory in memories)


# Pieces that lean on one another, so that every context is met from both sides.
PIECES = [
    *"a8# \n\t\r\x1b\x9b\u202e\u200b\u0301\u064b\u20e3\u094d\u2800\u0378\ue000\udce9",
    *"قکष۲،°❤🙂🏽🏴🇯🇵",
    *JOINERS,
    "\U000e0067",
    "\U000e007f",
    ENGLAND[1:],
    "<U+202E RLO>",
    "\u0301" * 5,
    "\u064b" * 4,
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.text(st.characters(), max_size=40),
)


def spelled(shown: Shown) -> str:
    """The text that was shown, read back from its marks."""
    found, at = "", 0
    for start, end in shown.marks:
        mark = shown[start:end]
        found += shown[at:start]
        if mark.startswith("<byte "):
            found += chr(0xDC00 + int(mark[6:-1], 16))
        elif mark.startswith("<U+"):
            found += chr(int(mark[3:-1].split(" ")[0], 16))
        else:
            found += "\x7f" if mark == "␡" else chr(ord(mark) - 0x2400)
        at = end
    return found + shown[at:]


@given(texts, st.sampled_from(["", "\n", "\t", "\n\t"]))
def test_the_marks_tell_exactly_what_they_stand_for(text: str, keep: str) -> None:
    """So that texts which differ in what is hidden never look the same."""
    assert spelled(visible(text, keep=keep)) == text


@given(texts, st.sampled_from(["", "\n", "\t", "\n\t"]))
def test_no_text_drives_a_terminal_or_hides_but_where_a_sequence_needs_it(
    text: str, keep: str
) -> None:
    shown = visible(text, keep=keep)
    assert {char for char in shown if is_hidden(char)} <= JOINERS | TAGS | {*keep}
    assert all(is_assigned(char) for char in shown)


@given(texts, st.sampled_from(["", "\n", "\t", "\n\t"]))
@example("ب" + "\u064b" * 5 + "\u200cب", "")
def test_what_is_shown_is_shown_again_unchanged(text: str, keep: str) -> None:
    shown = visible(text, keep=keep)
    assert visible(shown, keep=keep) == shown
    assert visible(shown, keep=keep).marks == ()


@given(texts)
def test_hidden_tells_of_what_visible_marks(text: str) -> None:
    shown = visible(text)
    told = hidden(text)
    assert [found.char for found in told] == [text[found.offset] for found in told]
    layout = [char for char in text if char in "\n\t\r"]
    assert len(told) + len(layout) == len(shown.marks)
    marks = [shown[start:end] for start, end in shown.marks]
    assert [found.name for found in told] == [mark for mark in marks if mark not in "␊␉␍"]


@given(texts)
def test_what_is_visible_needs_a_character_that_is_shown_or_half_a_flag(text: str) -> None:
    alone = [char for char in text if not char.isspace() and visible(char) == char]
    assert has_visible(text) == bool(alone or HALVES & {*text})


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_is_shown_unchanged(text: str) -> None:
    assert visible(text) == text
    assert visible(text).marks == ()
    assert hidden(text) == ()


def test_assignment_is_that_of_the_shipped_unicode() -> None:
    assert is_assigned("a")
    assert is_assigned("\U0001fae9")  # newer than the oldest Python that we run on
    assert not is_assigned("\u0378")
    assert not is_assigned("\ue000")
    assert not is_assigned("\ud800")
    assert not is_assigned("\uffff")
