"""Removes from the tree of a Word part what a person does not see: deletions, hidden runs and shapes, alternatives."""

from __future__ import annotations

from collections.abc import Iterator

from ragpress.audit.names import CX, MC, OFF, TEXTS, WP, A, C, D, V, W
from ragpress.audit.package import Element
from ragpress.audit.visible import Visible, words

_SHOWN = (*TEXTS, C + "chart", CX + "chart", D + "relIds", V + "textpath", V + "imagedata", A + "blip")
_PAGE_NUMBERS = ("PAGE", "NUMPAGES", "SECTIONPAGES", "SECTION")
_PAGE_NUMBER = "\ue001"  # a private character, no part of a word
_BESIDE = 3  # words that a line with a page number may have without saying anything of its own
_MARKS = (W + "rPr", W + "numPr", W + "tcPr")  # what holds w:del as a mark on itself
_CONTROLS = (W + "sdt", W + "sdtContent")
_HIDING = ({"visibility", "hidden"}, {"display", "none"})  # declarations in the style of a shape


def texts(root: Element, *tags: str) -> Iterator[str]:
    """The texts of all elements below `root` with one of the tags."""
    for element in root.iter(*tags):
        if element.text:
            yield element.text


def is_on(element: Element) -> bool:
    """Whether a toggle such as `<w:vanish/>` is switched on."""
    return (element.get(W + "val") or "true").lower() not in OFF


def hidden_styles(styles: Element) -> frozenset[str]:
    """The ids of styles whose text is hidden, by themselves or through what they are based on."""
    own: dict[str, bool | None] = {}
    base: dict[str, str] = {}
    for style in styles.iter(W + "style"):
        identifier = style.get(W + "styleId") or ""
        found = style.find(f"{W}rPr/{W}vanish")
        own[identifier] = None if found is None else is_on(found)
        parent = style.find(W + "basedOn")
        base[identifier] = "" if parent is None else parent.get(W + "val") or ""
    hidden = set()
    for identifier in own:
        at, steps = identifier, 0
        while own.get(at) is None and base.get(at) and steps < 50:
            at, steps = base[at], steps + 1
        if own.get(at):
            hidden.add(identifier)
    return frozenset(hidden)


def prune(root: Element, hidden_styles: frozenset[str], visible: Visible) -> None:
    """Removes what is not seen below `root`, and counts its words."""
    for alternatives in list(root.iter(MC + "AlternateContent")):
        _choose(alternatives)
    for deleted in list(root.iter(W + "del", W + "moveFrom")):
        parent = deleted.getparent()
        row = parent.getparent() if parent is not None and parent.tag == W + "trPr" else None
        if row is not None:
            deleted, parent = row, row.getparent()
        if parent is not None and parent.tag not in _MARKS:
            visible.leave_out("deleted", texts(deleted, *TEXTS, W + "delText"))
            parent.remove(deleted)
            deleted.clear()  # so that a deletion inside is not counted again
    for run in _hidden_runs(root, hidden_styles):
        visible.leave_out("hidden", texts(run, *TEXTS))
        for child in list(run):
            if child.tag != W + "fldChar":  # the ends of a field stay, or the rest of it would be taken for code
                run.remove(child)
    for shape in _hidden_shapes(root):
        visible.leave_out("hidden", texts(shape, *TEXTS))
        shape.clear()
    _join_paragraphs(root)
    visible.leave_out("field-code", texts(root, W + "instrText"))


def remove_page_numbers(root: Element, visible: Visible) -> None:
    """Replaces the page numbers in a header or footer by a mark, for on each page they are others."""
    for mark in list(root.iter(W + "fldSimple", W + "instrText")):
        code = (mark.get(W + "instr") if mark.tag == W + "fldSimple" else mark.text) or ""
        paragraph = next(mark.iterancestors(W + "p"), None)
        if paragraph is None or code.partition("\\")[0].strip().upper() not in _PAGE_NUMBERS:
            continue
        for text in list(mark.iter(W + "t")) if mark.tag == W + "fldSimple" else _result(mark, paragraph):
            visible.leave_out("page-number", [text.text or ""])
            text.text = _PAGE_NUMBER


def is_page_number(line: str) -> bool:
    """Whether a line of a header or footer only gives the page or date: a number and few words beside it."""
    found = words(line)
    beside = [word for word in found if word.isalpha()]
    return len(beside) <= _BESIDE and (len(beside) < len(found) or _PAGE_NUMBER in line)


def _result(code: Element, paragraph: Element) -> list[Element]:
    """The texts between the code of a complex field and its end."""
    shown: list[Element] = []
    behind = False
    for element in paragraph.iter(W + "instrText", W + "fldChar", W + "t"):
        if behind and element.tag == W + "t":
            shown.append(element)
        elif behind and element.get(W + "fldCharType") == "end":
            break
        behind = behind or element is code
    return shown


def _join_paragraphs(root: Element) -> None:
    """Moves a paragraph whose end was deleted, or which is a dropped initial, to the front of the next one."""
    for paragraph in list(root.iter(W + "p")):
        properties = paragraph.find(W + "pPr")
        following = paragraph.getnext()
        while following is not None and following.tag in _CONTROLS:
            following = next((child for child in following if child.tag != W + "sdtPr"), None)
        if properties is None or following is None or following.tag != W + "p":
            continue
        frame = properties.find(W + "framePr")
        ended = all(properties.find(f"{W}rPr/{mark}") is None for mark in (W + "del", W + "moveFrom"))
        if ended and (frame is None or frame.get(W + "dropCap") not in ("drop", "margin")):
            continue
        start = 1 if following.find(W + "pPr") is not None else 0
        following[start:start] = [child for child in paragraph if child is not properties]


def _choose(alternatives: Element) -> None:
    """Leaves the first of the alternatives that shows anything: they are one thing in several formats."""
    kept = next((choice for choice in alternatives if next(choice.iter(*_SHOWN), None) is not None), None)
    for other in list(alternatives):
        if other is not kept:
            alternatives.remove(other)


def _hidden_runs(root: Element, hidden_styles: frozenset[str]) -> list[Element]:
    direct = {}
    for mark in root.iter(W + "vanish"):
        properties = mark.getparent()
        run = properties.getparent() if properties is not None else None
        if run is not None and run.tag.endswith("}r"):  # of text or of a formula
            direct[run] = is_on(mark)
    found = [run for run, hidden in direct.items() if hidden]
    if hidden_styles:
        for run in root.iter(W + "r"):
            # The style of the paragraph and that of the run toggle each other (ECMA-376 part 1, 17.7.3).
            paragraph = next(run.iterancestors(W + "p"), None)
            if run not in direct and _has_style(run, "r", hidden_styles) != _has_style(paragraph, "p", hidden_styles):
                found.append(run)
    return found


def _has_style(element: Element | None, letter: str, styles: frozenset[str]) -> bool:
    named = None if element is None else element.find(f"{W}{letter}Pr/{W}{letter}Style")
    return named is not None and named.get(W + "val") in styles


def _hidden_shapes(root: Element) -> list[Element]:
    marked = (mark for mark in root.iter(WP + "docPr") if (mark.get("hidden") or "0").lower() not in OFF)
    found = [mark.getparent() for mark in marked]
    for content in root.iter(W + "txbxContent", V + "textpath"):
        found += [shape for shape in content.iterancestors() if _is_hiding(shape.get("style") or "")]
    return found


def _is_hiding(style: str) -> bool:
    declarations = (declaration.lower().split(":") for declaration in style.split(";"))
    return any({part.strip() for part in declaration} in _HIDING for declaration in declarations)
