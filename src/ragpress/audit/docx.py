"""What a person sees of a Word file: the final text with everything hidden, deleted or computed taken off the tree.

The tree of each part (body, note, header) is pruned of what is not seen, floating text is taken out, and what
remains is read flat, in one pass. Places are the numbers of the body's blocks: paragraphs and tables, counted
through content controls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

import msgspec
from lxml import etree

from ragpress.audit.embedded import embedded_addresses, embedded_lines, worksheet_lines
from ragpress.audit.graphics import chart_texts, diagram_texts
from ragpress.audit.names import CX, OFFICE, PIC, TEXTS, WP, A, C, D, M, R, V, W
from ragpress.audit.package import Element, Parts
from ragpress.audit.pruning import hidden_styles, is_on, is_page_number, prune, remove_page_numbers, texts
from ragpress.audit.visible import UNKNOWN_LETTER, Visible, VisibleText, words
from ragpress.errors import SourceError

_PARAGRAPHS = (W + "p", A + "p")
_SPACES = (W + "tab", W + "br", W + "cr", W + "ptab", A + "br")
_DESCRIBED = (WP + "docPr", PIC + "cNvPr", V + "shape", V + "rect", V + "group", V + "imagedata")
_NOTES = (W + "footnoteReference", W + "endnoteReference")
_READ = (
    *TEXTS,
    *_PARAGRAPHS,
    *_SPACES,
    *_NOTES,
    W + "noBreakHyphen",
    W + "fldChar",
    W + "sym",
    C + "chart",
    CX + "chart",
    D + "relIds",
    V + "textpath",
)
_PRIVATE_LETTERS = {0xF000 + code: UNKNOWN_LETTER for code in range(0x100) if chr(code).isalpha()}  # of symbol fonts
_WRAPPERS = (W + "sdt", W + "sdtContent", W + "customXml", W + "ins", W + "moveTo", W + "smartTag", W + "body")
_LINK = re.compile(r"\[([^\[\]]+)\]\((?:<[^<>\n]+>|[a-z]+:[^\s()]+)\)", re.IGNORECASE)
_DEPTH = 3  # of Word files embedded in Word files
_MOST_FILES = 200  # embedded ones, at all depths together
_HEADER_ROWS = 4  # of a table; no header is taller


class _WordFile(msgspec.Struct):
    """One Word file on its way to Visible.

    `notes` are those that the text refers to, with the place, `repeated_notes` those of table headers. `whole_fields`
    are the marks of the fields of the current root that have an end; `open_fields` says of the open ones, the innermost
    last, whether their result is reached.
    """

    source: str
    depth: int
    parts: Parts
    visible: Visible
    hidden_styles: frozenset[str] = frozenset()
    links: dict[str, tuple[str, str]] = {}
    notes: dict[tuple[str, str], str] = {}
    repeated_notes: set[tuple[str, str]] = set()
    repeatable_left: int = 200_000  # paragraphs; tables in tables in tables would have no end
    files_left: int = _MOST_FILES
    whole_fields: set[Element] = set()
    open_fields: list[bool] = []


def visible_docx(data: bytes, source: str) -> Visible:
    """All that a reader of the printed document sees, each text once. Raises SourceError for a broken archive."""
    visible = _read_package(_WordFile(source, 0, Parts(data, source), Visible()))
    visible.pieces = [msgspec.structs.replace(piece, text=without_addresses(piece.text)) for piece in visible.pieces]
    return visible


def without_addresses(text: str) -> str:
    """The text without the addresses of links, `[text](address)`: a link may be a part of a word."""
    return _LINK.sub(r"\1", text) if "](" in text else text


def _read_package(package: _WordFile) -> Visible:
    parts = package.parts
    main = parts.main("document", "word/document.xml")
    root = parts.tree(main)
    package.links = parts.links(main)
    _collect_addresses(root, main, package)
    package.hidden_styles = hidden_styles(_linked_tree(package, "styles"))
    prune(root, package.hidden_styles, package.visible)
    package.whole_fields = _whole_fields(root)
    for number, block in enumerate(_blocks(root), start=1):
        _read_block(block, f"B{number}", package)
    _read_notes(package)
    _read_headers(root, package)
    _count_comments(package)
    _collect_labels(package)
    return package.visible


def _linked_tree(package: _WordFile, kind: str) -> Element:
    return package.parts.tree(next((name for found, name in package.links.values() if found == kind), ""))


def _blocks(parent: Element) -> Iterator[Element]:
    """Paragraphs, tables and embedded files in order, out of whatever wraps them."""
    pending = [iter(parent)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
        elif child.tag in _WRAPPERS:
            pending.append(iter(child))
        elif child.tag in (W + "p", W + "tbl", W + "altChunk"):
            yield child


def _read_root(root: Element, place: str, package: _WordFile) -> None:
    """Adds the text of a note, header or text box, which has fields of its own."""
    outer = package.whole_fields, package.open_fields
    package.whole_fields, package.open_fields = _whole_fields(root), []
    _read_block(root, place, package)
    package.whole_fields, package.open_fields = outer


def _read_block(root: Element, place: str, package: _WordFile) -> None:
    """Adds the text below `root`, which is pruned."""
    for table in root.iter(W + "tbl"):
        _collect_repeatable(table, package)
    formulas = list(root.iter(M + "oMath"))
    for formula in formulas:
        formula.getparent().replace(formula, etree.Element(_SPACES[0]))
    for ruby in root.iter(W + "ruby"):  # the reading is between the base and what follows
        ruby.append(etree.Element(_SPACES[0]))
    floating = [box for box in root.iter(W + "txbxContent", W + "rt") if box is not root]
    for box in floating:
        box.getparent().remove(box)
    for embedded in root.iter(W + "altChunk", OFFICE + "OLEObject", W + "objectEmbed"):
        with suppress(SourceError):  # what cannot be read is not seen; the reader reports it
            read = _read_embedded_file if embedded.tag == W + "altChunk" else _read_object
            read(embedded, place, package)
    for drawing in root.iter(*_DESCRIBED):
        for name in ("descr", "title", "alt", OFFICE + "title"):  # nobody sees it, but it may be indexed
            package.visible.repeatable.update(words(drawing.get(name) or ""))
    for entry in root.iter(W + "listEntry"):  # of a form; which one is chosen matters little here
        package.visible.repeatable.update(words(entry.get(W + "val") or ""))
    package.visible.pieces += [VisibleText(text, place) for text in _flat(root, place, package) if text.strip()]
    package.visible.pieces += [
        VisibleText(" ".join(texts(formula, *TEXTS)), place, formula=True) for formula in formulas
    ]
    for box in floating:
        _read_root(box, place, package)


def _collect_repeatable(table: Element, package: _WordFile) -> None:
    """The words and notes of header rows and vertically merged cells, which every row's chunk may repeat."""
    rows = list(table.iterchildren(W + "tr"))
    repeated = [row for row in rows if row.find(f"{W}trPr/{W}tblHeader") is not None]
    merged = (mark.getparent().getparent() for row in rows for mark in row.iterfind(f"{W}tc/{W}tcPr/{W}vMerge"))
    for element in (*rows[:_HEADER_ROWS], *repeated, *merged):
        for paragraph in islice(element.iter(W + "p"), package.repeatable_left):
            package.visible.repeatable.update(words("".join(texts(paragraph, *TEXTS))))
            package.repeatable_left -= 1
        package.repeated_notes.update(map(_note_key, element.iter(*_NOTES)))


def _note_key(reference: Element) -> tuple[str, str]:
    """The kind of the part that holds a note, and the note's id."""
    return "footnotes" if reference.tag == _NOTES[0] else "endnotes", reference.get(W + "id") or ""


def _flat(root: Element, place: str, package: _WordFile) -> Iterator[str]:
    """The texts of the paragraphs below `root`, and of its drawings."""
    buffer: list[str] = []
    for element in root.iter(*_READ):
        tag = element.tag
        if tag == W + "fldChar":
            _step(element, package)
        elif not all(package.open_fields):
            continue
        elif tag in TEXTS:
            buffer.append((element.text or "").translate(_PRIVATE_LETTERS))
        elif tag in _PARAGRAPHS:
            if buffer:
                yield "".join(buffer)
                buffer.clear()
        elif tag in _NOTES:
            package.notes.setdefault(_note_key(element), place)
        elif tag == W + "noBreakHyphen":
            buffer.append("-")
        elif tag == W + "sym":
            buffer.append(_symbol(element))
        elif tag in _SPACES:
            buffer.append(" ")
        elif tag == V + "textpath":
            yield element.get("string") or ""
        else:
            tree = _graphic(element, package)
            found = diagram_texts(tree) if tag == D + "relIds" else chart_texts(tree, with_names=True)
            package.visible.repeatable.update(words("\n".join(found)))
            yield from found
    if buffer:
        yield "".join(buffer)


def _symbol(element: Element) -> str:
    """A sign of a symbol font: a letter of unknown name where the font has letters, else no part of a word."""
    code = element.get(W + "char") or ""
    number = int(code, 16) & 0xFF if re.fullmatch("[0-9A-Fa-f]{1,8}", code) else 0
    is_letter = chr(number).isalnum() and not re.search("dings", element.get(W + "font") or "", re.IGNORECASE)
    return UNKNOWN_LETTER if is_letter else " "


def _whole_fields(root: Element) -> set[Element]:
    """The marks of the fields that are whole: a beginning without an end would hide all that follows."""
    whole: set[Element] = set()
    opened: list[list[Element]] = []
    for mark in root.iter(W + "fldChar"):
        kind = mark.get(W + "fldCharType")
        if kind == "begin":
            opened.append([mark])
        elif opened:
            opened[-1].append(mark)
            if kind == "end":
                whole.update(opened.pop())
    return whole


def _step(mark: Element, package: _WordFile) -> None:
    kind = mark.get(W + "fldCharType") if mark in package.whole_fields else ""
    if kind == "begin":
        package.open_fields.append(False)
    elif kind == "separate" and package.open_fields:
        package.open_fields[-1] = True
    elif kind == "end" and package.open_fields:
        package.open_fields.pop()


def _graphic(element: Element, package: _WordFile) -> Element:
    _, name = package.links.get(element.get(R + ("dm" if element.tag == D + "relIds" else "id")) or "", ("", ""))
    return package.parts.tree(name)


def _collect_addresses(root: Element, name: str, package: _WordFile) -> None:
    """The words of the addresses of links: nobody sees them, but the chunks may hold them."""
    codes = (mark.get(W + "instr") or mark.text or "" for mark in root.iter(W + "fldSimple", W + "instrText"))
    for text in (*package.parts.addresses(name), *codes):
        package.visible.repeatable.update(words(text))


def _read_notes(package: _WordFile) -> None:
    """Adds the notes that the text refers to; notes may refer to none themselves."""
    wanted = dict(package.notes)
    for kind in ("footnotes", "endnotes"):
        root = _linked_tree(package, kind)
        for name in (name for found, name in package.links.values() if found == kind):
            _collect_addresses(root, name, package)
        for note in root:
            key = kind, note.get(W + "id") or ""
            if key in wanted:
                prune(note, package.hidden_styles, package.visible)
                if key in package.repeated_notes:
                    package.visible.repeatable.update(words("\n".join(texts(note, *TEXTS))))
                _read_root(note, wanted[key], package)


def _read_headers(root: Element, package: _WordFile) -> None:
    """Adds the paragraphs of the page headers and footers that are printed, each once, without page numbers."""
    visible, links = package.visible, package.links
    printed_lines: set[tuple[str, ...]] = set()
    for name, (place, printed) in _headers(root, package).items():
        tree = package.parts.tree(name)
        package.links = package.parts.links(name)
        _collect_addresses(tree, name, package)
        already = len(visible.pieces)
        prune(tree, package.hidden_styles, visible)
        remove_page_numbers(tree, visible)
        _read_root(tree, place, package)
        found = visible.pieces[already:]
        del visible.pieces[already:]
        for piece in found:
            line = tuple(words(piece.text))
            visible.repeatable.update(line)
            if is_page_number(piece.text):
                visible.leave_out("page-number", [piece.text])
            elif printed and line not in printed_lines:
                printed_lines.add(line)
                visible.pieces.append(piece)
    package.links = links


def _headers(root: Element, package: _WordFile) -> dict[str, tuple[str, bool]]:
    """The header and footer parts, with what they are and whether they are printed on any page."""
    settings = _linked_tree(package, "settings")
    even = any(is_on(mark) for mark in settings.iter(W + "evenAndOddHeaders"))
    found: dict[str, tuple[str, bool]] = {}
    for section in root.iterdescendants(W + "sectPr"):
        if section.getparent().tag == W + "sectPrChange":
            continue
        title = section.find(W + "titlePg")
        printed = {"first": title is not None and is_on(title), "even": even}
        for link in section.iterchildren(W + "headerReference", W + "footerReference"):
            _, name = package.links.get(link.get(R + "id") or "", ("", ""))
            if name:
                place = "header" if link.tag == W + "headerReference" else "footer"
                before = found.get(name, (place, False))
                found[name] = (before[0], before[1] or printed.get(link.get(W + "type") or "", True))
    return found


def _count_comments(package: _WordFile) -> None:
    package.visible.leave_out("comment", texts(_linked_tree(package, "comments"), *TEXTS))


def _collect_labels(package: _WordFile) -> None:
    """Words of automatic labels (`Chapter %1.`) are in no text, yet may stand in the chunks."""
    numbering = _linked_tree(package, "numbering")
    for label in numbering.iter(W + "lvlText"):
        package.visible.repeatable.update(words(re.sub(r"%\d", " ", label.get(W + "val") or "")))


def _read_embedded_file(element: Element, place: str, package: _WordFile) -> None:
    """Adds the text of a file that Word shows in place of an altChunk."""
    _, name = package.links.get(element.get(R + "id") or "", ("", ""))
    data = package.parts.read(name) if name else b""
    if data.startswith(b"PK"):
        _read_nested(data, place, package)
    elif data:
        package.visible.pieces += [VisibleText(line, place) for line in embedded_lines(data, package.source)]
        package.visible.repeatable.update(words(" ".join(embedded_addresses(data))))


def _read_object(element: Element, place: str, package: _WordFile) -> None:
    """Adds what an object shows of the workbook or Word file in it; an icon and a link show nothing of theirs."""
    aspect = (element.get("DrawAspect") or element.get(W + "drawAspect") or "").lower()
    _, name = package.links.get(element.get(R + "id") or "", ("", ""))
    data = package.parts.read(name) if name and aspect != "icon" and element.get("Type") != "Link" else b""
    if not data.startswith(b"PK") or package.files_left <= 0:
        return
    lines = worksheet_lines(data, package.source)
    package.visible.pieces += [VisibleText(line, place) for line in lines if line]
    package.visible.repeatable.update(words(" ".join(lines)))
    package.files_left -= bool(lines)
    if not lines:
        _read_nested(data, place, package)


def _read_nested(data: bytes, place: str, package: _WordFile) -> None:
    """Adds the text of a Word file inside this one."""
    if package.depth >= _DEPTH or package.files_left <= 0:
        return
    nested = _WordFile(package.source, package.depth + 1, Parts(data, package.source), Visible())
    nested.files_left = package.files_left - 1
    inner = _read_package(nested)
    package.files_left = nested.files_left
    package.visible.pieces += [VisibleText(piece.text, place) for piece in inner.pieces]
    package.visible.left_out.update(inner.left_out)
    package.visible.repeatable.update(inner.repeatable)
