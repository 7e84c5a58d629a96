"""The normal form of indexed text and of queries, and the coarser form in which texts are compared."""

from __future__ import annotations

import re
import unicodedata

ZWNJ = "\u200c"
TATWEEL = "\u0640"

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
_FOREIGN = re.compile(f"[{TATWEEL}{_UNREAD}{_HALVES}{''.join(_FORMS)}]")
_TATWEELS = re.compile(f"{TATWEEL}+")

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
    alone, which is typed for a dash, becomes an en dash; direction marks, byte order marks and soft hyphens out; of
    ZWNJ only what is doubled or does not stand between letters goes; half a surrogate pair becomes U+FFFD. All else,
    digits and line breaks among it, stays as written. `normalize(normalize(x)) == normalize(x)`, and the number of
    lines stays the same.
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
    sign, text, start = found[0], found.string, found.start()
    before = text[max(start - 1, 0) : start]
    if sign == TATWEEL:
        if before == TATWEEL:
            return ""  # the first one of a row stands for all
        end = start + len(_TATWEELS.match(text, start)[0])  # type: ignore[index]  # there is one at least
        return "" if before.strip() or text[end : end + 1].strip() else "–"
    if "\ud800" <= sign <= "\udfff":
        return "\ufffd"
    letters = _FORMS.get(sign, "")
    if sign in _PHRASES:
        return " " * before.isalnum() + letters + " " * text[start + 1 : start + 2].isalnum()
    return letters


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


def fold(text: str) -> str:
    """The form in which two texts count as equal: for comparing and searching, never stored.

    NFKC and case folded; variants of yeh, kaf, heh, alef and waw, and ё and е, as one letter; Persian and Arabic
    digits as ASCII; ZWNJ, direction marks, tatweel and vowel signs out. White space stays as it is.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", normalize(text)).casefold())
    return text.translate(_FOLDING)
