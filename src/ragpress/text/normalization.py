"""The normal form of indexed text and of queries, and the coarser form in which texts are compared."""

from __future__ import annotations

import re
import unicodedata

ZWNJ = "\u200c"
ZWJ = "\u200d"
TATWEEL = "\u0640"
SOFT_HYPHEN = "\u00ad"

# Marks that only steer the display of mixed directions, a stray byte order mark, and the soft hyphen, a hint to a
# typesetter: nobody reads them. The joiners are not among them: Persian, Indic scripts and emoji need those.
_UNREAD = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff\u00ad"


def _letters_of_forms() -> dict[str, str]:
    """Arabic presentation forms (Unicode blocks FB50 to FDFF and FE70 to FEFE) to the letters that they show.

    A compatibility decomposition of a vowel sign alone carries a space or tatweel for it to stand on; the sign
    belongs to the letter before it, so that support is left out.
    """
    forms = {}
    for number in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFEFF)):
        form = chr(number)
        letters = unicodedata.normalize("NFKC", form)
        if letters != form:
            forms[form] = letters.strip(" ").replace(TATWEEL, "")
    return forms


_FORMS = _letters_of_forms()
_PHRASES = "\ufdfa\ufdfb\ufdfc"  # signs that stand for words of their own, the rial sign among them
_HALVES = "\ud800-\udfff"  # of a surrogate pair: no character alone, and no file could hold them
_FOREIGN = re.compile(  # one sign, or a row of tatweel or of marks; a set at the beginning is sought fastest
    f"[{TATWEEL}{_UNREAD}{_HALVES}{''.join(_FORMS)}](?:(?<={TATWEEL}){TATWEEL}+|(?<=[{_UNREAD}])[{_UNREAD}]+)?"
)
_NOT_SEEN = re.compile(f"[{_UNREAD}{ZWNJ}{ZWJ}]")

# Stable code points (Unicode Standard Annex 15, 9.1) of the scripts at hand: NFC leaves them as they are, and nothing
# that stands before one changes it. So NFC has to look only at all others, each with the stable one right before it.
_STABLE = (
    "\0-\u02ff\u0400-\u0482\u048a-\u052f\u0600-\u060f\u061b-\u064a\u0660-\u066f\u0671-\u06d5\u06ee-\u06ff"
    "\u1e00-\u1eff\u2002-\u206f\u20a0-\u20bf\u2116\u2190-\u22ff\u2500-\u27bf"
)
_UNSTABLE = re.compile(f"[^{_STABLE}](?:[{_STABLE}]{{0,8}}[^{_STABLE}])*+")  # those near each other in one piece

_DOUBLED = re.compile(f"{ZWNJ}{{2,}}")
# A non-joiner separates two letters, so beside a space, a stop or a bracket's inner side it is a slip. It stays
# after a closing quote or bracket and beside `*`, `_` or a backtick, where a suffix follows a marked word, and at the
# end of an Indic word, where it shapes the last consonant.
_BEFORE_IT = r"\s.,:;!?…،؛؟«“‘(\[{/|–—\-"
_BEHIND_IT = r"\s.,:;!?…،؛؟»”’)\]}/|–—\-\"'"
_STRAY = re.compile(
    f"{ZWNJ}(?:(?<=\\A{ZWNJ})|(?<=[{_BEFORE_IT}]{ZWNJ})|(?<![\u0900-\u0dff]{ZWNJ})(?=[{_BEHIND_IT}]|\\Z))"
)


def normalize(text: str) -> str:
    """The form in which text is indexed, stored and asked for.

    Unicode NFC; Arabic yeh (also without dots) and kaf to the Persian letters; presentation forms and ligatures to
    letters, the signs for a phrase or for rial apart from their neighbours; tatweel out, except that one standing
    alone or beside a digit (`۸ـ۱۴`), which is typed for a dash, becomes an en dash; direction marks, byte order marks
    and soft hyphens out, except that between two digits the marks become a space, and a soft hyphen (which many PDF
    files have for a hyphen) a hyphen; of ZWNJ only what is doubled or does not stand between letters goes; half a
    surrogate pair becomes U+FFFD. All else, digits and line breaks among it, stays as written: no number is changed,
    and no two are joined. `normalize(normalize(x)) == normalize(x)`, and the number of lines stays the same.
    """
    if text.isascii():
        return text
    text = _FOREIGN.sub(_replacement, text)
    text = _composed(text)
    # After the composition, so that Arabic yeh with hamza above has become the one letter that Persian has, too.
    text = text.replace("\u064a", "\u06cc").replace("\u0649", "\u06cc").replace("\u0643", "\u06a9")
    if ZWNJ in text:
        text = _STRAY.sub("", _DOUBLED.sub(ZWNJ, text))
    return text


def _composed(text: str) -> str:
    """The text in NFC."""
    pieces: list[str] = []
    done = 0
    for found in _UNSTABLE.finditer(text):
        start, end = max(found.start() - 1, 0), found.end()
        piece = text[start:end]
        composed = unicodedata.normalize("NFC", piece)
        if composed != piece:
            pieces += text[done:start], composed
            done = end
    return "".join((*pieces, text[done:])) if done else text


def _replacement(found: re.Match[str]) -> str:
    signs, text, start, end = found[0], found.string, found.start(), found.end()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if signs[0] == TATWEEL:
        return _instead_of_tatweel(text, start, end)
    if signs[0] in _FORMS:
        letters = _FORMS[signs]
        if signs in _PHRASES:
            return " " * before.isalnum() + letters + " " * after.isalnum()
        return letters
    if "\ud800" <= signs <= "\udfff":
        return "\ufffd"
    if before.isnumeric() and after.isnumeric():
        return "-" if SOFT_HYPHEN in signs else " "
    return ""


def _instead_of_tatweel(text: str, start: int, end: int) -> str:
    """A dash for tatweel beside a digit or alone, nothing for one that lengthens a word or goes on behind a mark."""
    while start and (_NOT_SEEN.match(text, start - 1) or unicodedata.combining(text[start - 1])):
        start -= 1
    while end < len(text) and (_NOT_SEEN.match(text, end) or unicodedata.combining(text[end])):
        end += 1
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if before == TATWEEL:
        return ""  # the first one of a row stands for all
    while after == TATWEEL:
        end += 1
        after = text[end : end + 1]
    alone = not before.strip() and not after.strip()
    return "–" if alone or before.isnumeric() or after.isnumeric() else ""


def _folding() -> dict[int, str | None]:
    table: dict[int, str | None] = {}
    for letter, variants in {
        "ی": "يىئےۓې",
        "ک": "كڪ",
        "ه": "ةۀہۂھەۃ",
        "ا": "آأإٱ",
        "و": "ؤ",
        "е": "ё",
    }.items():
        table.update({ord(variant): letter for variant in variants})
    for zero in (0x0660, 0x06F0):
        table.update({zero + digit: str(digit) for digit in range(10)})
    unread = (0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x061C, 0x2060, 0xFEFF, 0x00AD, 0x0640, 0x0670)
    table.update(dict.fromkeys((*unread, *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
    table.update(dict.fromkeys((*range(0x064B, 0x0660), *range(0x06D6, 0x06DD), *range(0x06DF, 0x06E9))))
    return table


_FOLDING = _folding()
_LEFT_OUT = "".join(chr(number) for number, letter in _FOLDING.items() if letter is None)
_LEFT_OUT_BETWEEN_DIGITS = re.compile(rf"[{_LEFT_OUT}](?<=\d[{_LEFT_OUT}])[{_LEFT_OUT}]*(?=\d)")


def _other_numerals() -> str:
    """What is no digit, but becomes one, or text with one at its edge, by NFKC: `½`, `⑤`, `㏠`."""
    blocks = (range(0xA0, 0x100), range(0x2150, 0x2190), range(0x2460, 0x2500), range(0x3220, 0x3400))
    signs = [chr(number) for block in (*blocks, range(0x1F100, 0x1F10B)) for number in block]
    forms = [unicodedata.normalize("NFKC", sign) for sign in signs]
    return "".join(sign for sign, form in zip(signs, forms, strict=True) if form[0].isdecimal() or form[-1].isdecimal())


_RAISED = "⁰¹²³⁴-⁹₀-₉"
_OTHER_NUMERAL = re.compile(f"[{_RAISED}{_other_numerals()}](?:(?<=[{_RAISED}])[{_RAISED}]+)?")


def _apart(found: re.Match[str]) -> str:
    """A numeral of another kind apart from the number beside it."""
    before, after = found.string[max(found.start() - 1, 0) : found.start()], found.string[found.end() : found.end() + 1]
    return " " * before.isnumeric() + found[0] + " " * after.isdecimal()


def fold(text: str) -> str:
    """The form in which two texts count as equal: for comparing and searching, never stored.

    NFKC and case folded; variants of yeh, kaf, heh, alef and waw, and ё and е, as one letter; Persian and Arabic
    digits as ASCII; ZWNJ, direction marks, tatweel and vowel signs out. White space stays as it is. Two numbers are
    never joined to one: `10²` and `5½` fold to `10 2` and `5 1⁄2`, and what is left out between digits is a space.
    """
    if text.isascii():
        return text.lower()
    text = _OTHER_NUMERAL.sub(_apart, normalize(text))
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _LEFT_OUT_BETWEEN_DIGITS.sub(" ", text).translate(_FOLDING)
