"""Formulas (OMML, ECMA-376 part 1, 22.1) as one line of text: `x = (a + b)/(2)`, `x^2`, `√(x)`, `∑_(i=1)^n`."""

from __future__ import annotations

from ragpress.readers.docx.names import M, W, inner, switch
from ragpress.readers.ooxml.xml import Element

_DEEPEST = 40
_PROPERTIES = frozenset(
    M + name + "Pr"
    for name in (
        *("acc", "bar", "box", "borderBox", "ctrl", "d", "eqArr", "f", "func", "groupChr", "limLow", "limUpp", "m"),
        *("nary", "oMathPara", "phant", "rad", "sPre", "sSub", "sSubSup", "sSup", "r", "arg"),
    )
)
_OUT = frozenset({W + "del", W + "moveFrom", W + "rPr"}) | _PROPERTIES


def formula_text(element: Element) -> str:
    """The text of an m:oMath or m:oMathPara; several formulas on lines of their own."""
    formulas = [element] if element.tag == M + "oMath" else list(element.iterfind(M + "oMath"))
    texts = [" ".join(_text(formula, 0).split()) for formula in formulas or [element]]
    return "\n".join(text for text in texts if text)


def _text(element: Element, depth: int) -> str:
    if depth > _DEEPEST:
        return " ".join(text.text or "" for text in element.iter(M + "t"))
    write = _WRITERS.get(element.tag)
    return write(element, depth + 1) if write else _all(element, depth)


def _all(element: Element, depth: int) -> str:
    return "".join(_text(child, depth + 1) for child in element if child.tag not in _OUT)


def _run(element: Element, depth: int) -> str:
    if switch(element.find(W + "rPr"), W + "vanish"):
        return ""
    return "".join(child.text or "" for child in element if child.tag in (M + "t", W + "t"))


def _part(element: Element, name: str, depth: int) -> str:
    return _all(inner(element, M + name), depth).strip()


def _group(text: str) -> str:
    """In brackets where it is more than one sign."""
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _character(element: Element, path: str, usual: str) -> str:
    text: str = inner(element, path).get(M + "val", usual)
    return text


def _fraction(element: Element, depth: int) -> str:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    return f"{_group(above)}/{_group(below)}"


def _scripts(element: Element, depth: int) -> str:
    base, below, above = (_part(element, name, depth) for name in ("e", "sub", "sup"))
    text = base + (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "")
    return f"{text} " if element.tag != M + "sPre" else f"{text[len(base) :]}{base} "


def _root(element: Element, depth: int) -> str:
    degree, inside = _part(element, "deg", depth), _part(element, "e", depth)
    return f"{degree}√({inside})"


def _large(element: Element, depth: int) -> str:
    sign = _character(element, f"{M}naryPr/{M}chr", "∫")
    below, above, inside = (_part(element, name, depth) for name in ("sub", "sup", "e"))
    return sign + (f"_{_group(below)}" if below else "") + (f"^{_group(above)}" if above else "") + f" {inside}"


def _brackets(element: Element, depth: int) -> str:
    begin = _character(element, f"{M}dPr/{M}begChr", "(")
    end = _character(element, f"{M}dPr/{M}endChr", ")")
    between = _character(element, f"{M}dPr/{M}sepChr", "|")
    return begin + between.join(_all(part, depth) for part in element.iterfind(M + "e")) + end


def _matrix(element: Element, depth: int) -> str:
    rows = (", ".join(_all(cell, depth) for cell in row.iterfind(M + "e")) for row in element.iterfind(M + "mr"))
    return f"[{'; '.join(rows)}]"


def _equations(element: Element, depth: int) -> str:
    return "; ".join(_all(part, depth) for part in element.iterfind(M + "e"))


def _function(element: Element, depth: int) -> str:
    return f"{_part(element, 'fName', depth)} {_part(element, 'e', depth)}"


def _limit(element: Element, depth: int) -> str:
    joint = "_" if element.tag == M + "limLow" else "^"
    return f"{_part(element, 'e', depth)}{joint}{_group(_part(element, 'lim', depth))}"


_WRITERS = {
    M + "r": _run,
    W + "r": _run,
    M + "f": _fraction,
    M + "sSup": _scripts,
    M + "sSub": _scripts,
    M + "sSubSup": _scripts,
    M + "sPre": _scripts,
    M + "rad": _root,
    M + "nary": _large,
    M + "d": _brackets,
    M + "m": _matrix,
    M + "eqArr": _equations,
    M + "func": _function,
    M + "limLow": _limit,
    M + "limUpp": _limit,
}
