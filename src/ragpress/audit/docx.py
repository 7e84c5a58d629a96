"""What a person sees of a Word file: the final text with everything hidden, deleted or computed taken off the tree.

The tree of each story (body, note, header) is pruned of what is not seen, floating text is taken out, and what then
stands there is read flat, in one pass. Places are the numbers of the body's blocks: paragraphs and tables, counted
through content controls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
from lxml import etree

from ragpress.audit.embedded import embedded_lines
from ragpress.audit.package import Element, Parts
from ragpress.audit.visible import UNKNOWN_LETTER, Piece, Visible, words

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_V = "{urn:schemas-microsoft-com:vml}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"

_TEXTS = (_W + "t", _A + "t", _M + "t")
_PARAGRAPHS = (_W + "p", _A + "p")
_SPACES = (_W + "tab", _W + "br", _W + "cr", _W + "ptab", _A + "br")
_NOTES = (_W + "footnoteReference", _W + "endnoteReference")
_READ = (
    *_TEXTS,
    *_PARAGRAPHS,
    *_SPACES,
    *_NOTES,
    _W + "noBreakHyphen",
    _W + "fldChar",
    _W + "sym",
    _C + "chart",
    _CX + "chart",
    _D + "relIds",
    _WP + "docPr",
    _V + "textpath",
)
_SHOWN = (*_TEXTS, _C + "chart", _CX + "chart", _D + "relIds", _V + "textpath", _V + "imagedata", _A + "blip")
_CHART_TEXTS = (_A + "t", _C + "v", _CX + "v", _CX + "pt")
_CHART_NAMES = (_A + "t", _C + "strCache", _CX + "txData", _CX + "strDim")  # numbers stand in the picture alone
_PRIVATE_LETTERS = {0xF000 + code: UNKNOWN_LETTER for code in range(0x100) if chr(code).isalpha()}  # of symbol fonts
_WRAPPERS = (_W + "sdt", _W + "sdtContent", _W + "customXml", _W + "ins", _W + "moveTo", _W + "smartTag", _W + "body")
_OFF = ("0", "false", "off", "none")
_DEPTH = 3  # of Word files embedded in Word files
_HEADER_ROWS = 4  # of a table; no header is taller


class _Package(msgspec.Struct):
    """One Word file on its way to Visible. `notes` and `graphics` are what the text refers to, with the place."""

    source: str
    depth: int
    parts: Parts
    seen: Visible
    hidden_styles: frozenset[str] = frozenset()
    part: str = ""
    links: dict[str, tuple[str, str]] = {}
    notes: dict[tuple[str, str], str] = {}


def visible_docx(data: bytes, source: str, depth: int = 0) -> Visible:
    """All that a reader of the printed document sees, each text once. Raises SourceError for a broken archive."""
    parts = Parts(data, source)
    package = _Package(source, depth, parts, Visible(), part=parts.main("word/document.xml"))
    root = parts.tree(package.part)
    if root is None:
        return package.seen
    package.links = parts.links(package.part)
    package.hidden_styles = _hidden_styles(_linked_tree(package, "styles"))
    body = root.find(_W + "body")
    if body is None:
        return package.seen
    _prune(body, package)
    for number, block in enumerate(_blocks(body), start=1):
        _read_story(block, f"B{number}", package)
    _read_notes(package)
    _read_headers(body, package)
    _count_comments(package)
    _collect_labels(package)
    return package.seen


def _linked_tree(package: _Package, kind: str) -> Element | None:
    for found, name in package.links.values():
        if found == kind:
            return package.parts.tree(name)
    return None


def _is_on(element: Element) -> bool:
    return (element.get(_W + "val") or "true").lower() not in _OFF


def _hidden_styles(styles: Element | None) -> frozenset[str]:
    """The ids of styles whose text is hidden, by themselves or through what they are based on."""
    own: dict[str, bool | None] = {}
    base: dict[str, str] = {}
    for style in styles.iter(_W + "style") if styles is not None else ():
        identifier = style.get(_W + "styleId") or ""
        found = style.find(f"{_W}rPr/{_W}vanish")
        own[identifier] = None if found is None else _is_on(found)
        parent = style.find(_W + "basedOn")
        base[identifier] = "" if parent is None else parent.get(_W + "val") or ""
    hidden = set()
    for identifier in own:
        at, steps = identifier, 0
        while own.get(at) is None and base.get(at) and steps < 50:
            at, steps = base[at], steps + 1
        if own.get(at):
            hidden.add(identifier)
    return frozenset(hidden)


def _blocks(parent: Element) -> Iterator[Element]:
    """Paragraphs, tables and embedded files of a story in order, out of whatever wraps them."""
    pending = [iter(parent)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
        elif child.tag in _WRAPPERS:
            pending.append(iter(child))
        elif child.tag in (_W + "p", _W + "tbl", _W + "altChunk"):
            yield child


def _prune(root: Element, package: _Package) -> None:
    """Takes off the tree what is not seen, and counts it."""
    for alternatives in list(root.iter(_MC + "AlternateContent")):
        _choose(alternatives)
    for deleted in list(root.iter(_W + "del", _W + "moveFrom")):
        parent = deleted.getparent()
        if parent is None or parent.tag == _W + "rPr":
            continue
        if parent.tag == _W + "trPr":
            deleted, parent = parent.getparent(), parent.getparent().getparent()
            if parent is None:
                continue
        elif parent.tag in (_W + "numPr", _W + "tcPr"):
            continue
        package.seen.leave_out("deleted", _texts(deleted, *_TEXTS, _W + "delText"))
        parent.remove(deleted)
        deleted.clear()
    for run in _hidden_runs(root, package.hidden_styles):
        package.seen.leave_out("hidden", _texts(run, *_TEXTS))
        for child in list(run):
            if child.tag != _W + "fldChar":  # the ends of a field stay, or the rest of it would be taken for code
                run.remove(child)
    package.seen.leave_out("field-code", _texts(root, _W + "instrText"))


def _choose(alternatives: Element) -> None:
    """Leaves the first of the alternatives that shows anything: they are one thing in several formats."""
    kept = next((choice for choice in alternatives if next(choice.iter(*_SHOWN), None) is not None), None)
    for other in list(alternatives):
        if other is not kept:
            alternatives.remove(other)


def _texts(root: Element, *tags: str) -> Iterator[str]:
    for element in root.iter(*tags):
        if element.text:
            yield element.text


def _hidden_runs(root: Element, hidden_styles: frozenset[str]) -> list[Element]:
    direct = {}
    for mark in root.iter(_W + "vanish"):
        properties = mark.getparent()
        run = properties.getparent() if properties is not None else None
        if run is not None and run.tag == _W + "r":
            direct[run] = _is_on(mark)
    found = [run for run, hidden in direct.items() if hidden]
    if hidden_styles:
        for run in root.iter(_W + "r"):
            # The style of the paragraph and that of the run toggle each other (ECMA-376 part 1, 17.7.3).
            if run not in direct and _has_style(run, "r", hidden_styles) != _has_style(
                next(run.iterancestors(_W + "p"), None), "p", hidden_styles
            ):
                found.append(run)
    return found


def _has_style(element: Element | None, letter: str, styles: frozenset[str]) -> bool:
    named = None if element is None else element.find(f"{_W}{letter}Pr/{_W}{letter}Style")
    return named is not None and named.get(_W + "val") in styles


def _read_story(root: Element, place: str, package: _Package) -> None:
    """Adds the text below `root`, which is pruned."""
    if root.tag == _W + "altChunk":
        _read_embedded_file(root, place, package)
    formulas = list(root.iter(_M + "oMath"))
    floating = [box for box in root.iter(_W + "txbxContent", _W + "rt") if box is not root]
    for box in (*formulas, *floating):
        box.getparent().replace(box, etree.Element(_SPACES[0]))
    for table in root.iter(_W + "tbl"):
        _collect_repeatable(table, package.seen)
    package.seen.pieces += [Piece(text, place) for text in _flat(root, place, package)]
    package.seen.pieces += [Piece(" ".join(_texts(formula, *_TEXTS)), place, formula=True) for formula in formulas]
    for box in floating:
        _read_story(box, place, package)


def _collect_repeatable(table: Element, seen: Visible) -> None:
    """The words of header rows and vertically merged cells, which every row's chunk may repeat."""
    rows = list(table.iterchildren(_W + "tr"))
    repeated = [row for row in rows if row.find(f"{_W}trPr/{_W}tblHeader") is not None]
    merged = (mark.getparent().getparent() for row in rows for mark in row.iterfind(f"{_W}tc/{_W}tcPr/{_W}vMerge"))
    for element in (*rows[:_HEADER_ROWS], *repeated, *merged):
        for paragraph in element.iter(_W + "p"):
            seen.repeatable.update(words("".join(_texts(paragraph, *_TEXTS))))


def _flat(root: Element, place: str, package: _Package) -> Iterator[str]:
    """The texts of the paragraphs below `root`, what is not in the line of the text (alternative texts) apart."""
    ends = _field_ends(root)
    fields: list[bool] = []  # for each open field, innermost last: is its result reached
    buffer: list[str] = []
    for element in root.iter(*_READ):
        tag = element.tag
        if tag == _W + "fldChar":
            _step(element, ends, fields)
        elif not all(fields):
            continue
        elif tag in _TEXTS:
            buffer.append((element.text or "").translate(_PRIVATE_LETTERS))
        elif tag in _PARAGRAPHS:
            if buffer:
                yield "".join(buffer)
                buffer.clear()
        elif tag in _NOTES:
            kind = "footnotes" if tag == _NOTES[0] else "endnotes"
            package.notes.setdefault((kind, element.get(_W + "id") or ""), place)
        elif tag == _W + "noBreakHyphen":
            buffer.append("-")
        elif tag == _W + "sym":
            buffer.append(_symbol(element))
        elif tag in _SPACES:
            buffer.append(" ")
        else:
            yield from _apart(element, package)
    if buffer:
        yield "".join(buffer)


def _symbol(element: Element) -> str:
    """A sign of a symbol font: a letter of unknown name where the font has letters, else no part of a word."""
    code = element.get(_W + "char") or ""
    number = int(code, 16) & 0xFF if re.fullmatch("[0-9A-Fa-f]{1,8}", code) else 0
    is_letter = chr(number).isalpha() and not re.search("dings", element.get(_W + "font") or "", re.IGNORECASE)
    return UNKNOWN_LETTER if is_letter else " "


def _field_ends(root: Element) -> set[Element]:
    """The marks of the fields that are whole: a beginning without an end would hide all that follows."""
    whole: set[Element] = set()
    opened: list[list[Element]] = []
    for mark in root.iter(_W + "fldChar"):
        kind = mark.get(_W + "fldCharType")
        if kind == "begin":
            opened.append([mark])
        elif opened:
            opened[-1].append(mark)
            if kind == "end":
                whole.update(opened.pop())
    return whole


def _step(mark: Element, whole: set[Element], fields: list[bool]) -> None:
    if mark not in whole:
        return
    kind = mark.get(_W + "fldCharType")
    if kind == "begin":
        fields.append(False)
    elif kind == "separate":
        fields[-1] = True
    elif kind == "end":
        fields.pop()


def _apart(element: Element, package: _Package) -> Iterator[str]:
    """Text of a drawing that stands in attributes or in parts of its own."""
    if element.tag == _WP + "docPr":
        yield element.get("descr") or ""
    elif element.tag == _V + "textpath":
        yield element.get("string") or ""
    elif element.tag in (_C + "chart", _CX + "chart"):
        tree = _graphic(package, element.get(_R + "id"))
        for text in tree.iter(*_CHART_TEXTS) if tree is not None else ():
            if any(parent.tag in _CHART_NAMES for parent in (text, *text.iterancestors())):
                yield text.text or ""
    elif element.tag == _D + "relIds":
        tree = _graphic(package, element.get(_R + "dm"))
        for point in tree.iter(_D + "pt") if tree is not None else ():
            for paragraph in point.iter(_A + "p"):
                yield "".join(_texts(paragraph, _A + "t"))


def _graphic(package: _Package, identifier: str | None) -> Element | None:
    _, name = package.links.get(identifier or "", ("", ""))
    return package.parts.tree(name) if name else None


def _read_notes(package: _Package) -> None:
    """Adds the notes that the text refers to; notes may refer to none themselves."""
    wanted = dict(package.notes)
    for kind in ("footnotes", "endnotes"):
        root = _linked_tree(package, kind)
        for note in root if root is not None else ():
            place = wanted.get((kind, note.get(_W + "id") or ""))
            if place is not None:
                _prune(note, package)
                _read_story(note, place, package)


def _read_headers(body: Element, package: _Package) -> None:
    """Adds the paragraphs of the page headers and footers that are in use, each text once, without page numbers."""
    settings = _linked_tree(package, "settings")
    even = settings is not None and any(_is_on(mark) for mark in settings.iter(_W + "evenAndOddHeaders"))
    used: dict[str, str] = {}
    for section in body.iter(_W + "sectPr"):
        title = section.find(_W + "titlePg")
        for link in section.iterchildren(_W + "headerReference", _W + "footerReference"):
            kind = link.get(_W + "type")
            if (kind == "first" and (title is None or not _is_on(title))) or (kind == "even" and not even):
                continue
            _, name = package.links.get(link.get(_R + "id") or "", ("", ""))
            if name:
                used.setdefault(name, "header" if link.tag == _W + "headerReference" else "footer")
    told: set[tuple[str, ...]] = set()
    own_links = package.links
    for name, place in used.items():
        root = package.parts.tree(name)
        if root is None:
            continue
        package.links = package.parts.links(name)
        already = len(package.seen.pieces)
        _prune(root, package)
        _read_story(root, place, package)
        found = package.seen.pieces[already:]
        del package.seen.pieces[already:]
        for piece in found:
            said = tuple(word for word in words(piece.text) if not word.isdigit())
            package.seen.repeatable.update(said)
            if said and said not in told:
                told.add(said)
                package.seen.pieces.append(Piece(" ".join(said), place))
    package.links = own_links


def _count_comments(package: _Package) -> None:
    comments = _linked_tree(package, "comments")
    if comments is not None:
        package.seen.leave_out("comment", _texts(comments, *_TEXTS))


def _collect_labels(package: _Package) -> None:
    """Words of automatic labels (`Chapter %1.`) are in no text, yet may stand in the chunks."""
    numbering = _linked_tree(package, "numbering")
    for label in numbering.iter(_W + "lvlText") if numbering is not None else ():
        package.seen.repeatable.update(words(re.sub(r"%\d", " ", label.get(_W + "val") or "")))


def _read_embedded_file(element: Element, place: str, package: _Package) -> None:
    """Adds the text of a file that Word shows in place of an altChunk."""
    _, name = package.links.get(element.get(_R + "id") or "", ("", ""))
    data = package.parts.read(name) if name else b""
    if data.startswith(b"PK"):
        if package.depth >= _DEPTH:
            return
        inner = visible_docx(data, package.source, package.depth + 1)
        package.seen.pieces += [Piece(piece.text, place) for piece in inner.pieces]
        package.seen.left_out.update(inner.left_out)
        package.seen.repeatable.update(inner.repeatable)
    elif data:
        package.seen.pieces += [Piece(line, place) for line in embedded_lines(data, package.source)]
