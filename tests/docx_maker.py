"""Small Word files, made from XML, for the tests of the Word reader."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from ragpress.config import Config
from ragpress.readers.docx import read_docx
from ragpress.records import Document

TRANSITIONAL = "http://schemas.openxmlformats.org"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
NAMES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": f"{TRANSITIONAL}/wordprocessingml/2006/main",
        "r": f"{TRANSITIONAL}/officeDocument/2006/relationships",
        "m": f"{TRANSITIONAL}/officeDocument/2006/math",
        "mc": f"{TRANSITIONAL}/markup-compatibility/2006",
        "wp": f"{TRANSITIONAL}/drawingml/2006/wordprocessingDrawing",
        "a": f"{TRANSITIONAL}/drawingml/2006/main",
        "pic": f"{TRANSITIONAL}/drawingml/2006/picture",
        "c": f"{TRANSITIONAL}/drawingml/2006/chart",
        "dgm": f"{TRANSITIONAL}/drawingml/2006/diagram",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
    }.items()
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)

Part = str | bytes


def archive(parts: Mapping[str, Part]) -> bytes:
    """A zip archive of the parts, in their order."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return packed.getvalue()


def links(entries: Sequence[tuple[str, ...]]) -> str:
    """A relationships part of (id, kind, target) or (id, kind, target, "External")."""
    rows = ""
    for identifier, kind, target, *mode in entries:
        name = f"{TRANSITIONAL}/officeDocument/2006/relationships/{kind}"
        external = f' TargetMode="{mode[0]}"' if mode else ""
        rows += f'<Relationship Id="{identifier}" Type="{name}" Target="{target}"{external}/>'
    return f'<Relationships xmlns="{LINKS}">{rows}</Relationships>'


def story(tag: str, content: str) -> str:
    """A part with a root of WordprocessingML."""
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{tag} {NAMES}>{content}</w:{tag}>'


def parts(
    body: str,
    *,
    also: Mapping[str, Part] | None = None,
    related: Sequence[tuple[str, ...]] = (),
    main: str = "word/document.xml",
    **stories: str,
) -> dict[str, Part]:
    """The parts of a Word file. `stories`: the content of styles, numbering, footnotes, settings, header1 …"""
    entries = list(related)
    made: dict[str, Part] = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="{MAIN}"/></Types>',
        "_rels/.rels": links([("rId1", "officeDocument", main)]),
        main: story("document", f"<w:body>{body}</w:body>"),
    }
    folder, _, base = main.rpartition("/")
    for name, content in stories.items():
        kind = name.rstrip("0123456789")
        root = {"header": "hdr", "footer": "ftr"}.get(kind, kind)
        made[f"{folder}/{name}.xml"] = story(root, content)
        entries.append((f"rId_{name}", kind, f"{name}.xml"))
    made[f"{folder}/_rels/{base}.rels"] = links(entries)
    return made | dict(also or {})


def docx(
    body: str, *, also: Mapping[str, Part] | None = None, related: Sequence[tuple[str, ...]] = (), **rest: str
) -> bytes:
    """A Word file with this body; see `parts`."""
    return archive(parts(body, also=also, related=related, **rest))


def read(
    body: str, *, also: Mapping[str, Part] | None = None, related: Sequence[tuple[str, ...]] = (), **rest: str
) -> Document:
    """What the reader makes of a Word file with this body."""
    return read_docx(docx(body, also=also, related=related, **rest), "a.docx", Config())


def texts(document: Document) -> list[str]:
    """The texts of the units that have one."""
    return [unit.text for unit in document.units if unit.text]


def t(text: str) -> str:
    return f'<w:t xml:space="preserve">{text}</w:t>'


def r(text: str, look: str = "") -> str:
    """A run."""
    return f"<w:r>{f'<w:rPr>{look}</w:rPr>' if look else ''}{t(text)}</w:r>"


def p(content: str, properties: str = "") -> str:
    """A paragraph of XML content, or of one run if `content` is plain text."""
    inner = content if content.startswith("<") or not content else r(content)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inner}</w:p>"


def styled(style: str, content: str) -> str:
    return p(content, f'<w:pStyle w:val="{style}"/>')


def numbered(content: str, level: int = 0, list_id: int = 1) -> str:
    return p(content, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')


def tc(content: str, properties: str = "") -> str:
    """A cell of XML content, or of one paragraph if `content` is plain text."""
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc>{f'<w:tcPr>{properties}</w:tcPr>' if properties else ''}{inner}</w:tc>"


def tr(*cells: str, properties: str = "") -> str:
    """A row of cells, each given as text or as a w:tc (or what wraps one)."""
    made = (cell if cell.startswith("<w:") else tc(cell) for cell in cells)
    return f"<w:tr>{f'<w:trPr>{properties}</w:trPr>' if properties else ''}{''.join(made)}</w:tr>"


def tbl(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>"


def sdt(content: str, properties: str = "") -> str:
    """A content control, at whatever level."""
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def ins(content: str) -> str:
    return f'<w:ins w:id="1" w:author="x">{content}</w:ins>'


def gone(text: str, tag: str = "del") -> str:
    """Deleted text (or the source of a move)."""
    return f'<w:{tag} w:id="2" w:author="x"><w:r><w:delText xml:space="preserve">{text}</w:delText></w:r></w:{tag}>'


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def code(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def field(instruction: str, result: str) -> str:
    """A complex field with its result, given as runs."""
    return f"{mark('begin')}{code(instruction)}{mark('separate')}{result}{mark('end')}"


def level(depth: int, text: str, kind: str = "decimal", more: str = "", start: int = 1) -> str:
    """A level of a list. `more` goes between its number format and its text."""
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def lists(*abstract: str, numbers: Sequence[str] = ()) -> str:
    """numbering.xml: abstract list n (from 0) is used by w:num n + 1, unless `numbers` says otherwise."""
    made = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{levels}</w:abstractNum>' for n, levels in enumerate(abstract)
    )
    usual = [f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(len(abstract))]
    return made + "".join(numbers or usual)


def style(identifier: str, name: str = "", based: str = "", kind: str = "paragraph", inner: str = "") -> str:
    """A style. `inner` is its w:pPr and w:rPr."""
    return (
        f'<w:style w:type="{kind}" w:styleId="{identifier}"><w:name w:val="{name or identifier}"/>'
        f"{f'<w:basedOn w:val={chr(34)}{based}{chr(34)}/>' if based else ''}{inner}</w:style>"
    )


def heading(identifier: str, depth: int, name: str = "") -> str:
    """A heading style by its outline level from 0."""
    return style(identifier, name or identifier, inner=f'<w:pPr><w:outlineLvl w:val="{depth}"/></w:pPr>')


def box(content: str) -> str:
    """A text box in both branches of mc:AlternateContent, as Word writes it."""
    shape = f"<wps:wsp><wps:txbx><w:txbxContent>{content}</w:txbxContent></wps:txbx></wps:wsp>"
    drawing = f'<w:drawing><wp:anchor><wp:docPr id="1" name="Text Box 1"/><a:graphic><a:graphicData>{shape}'
    drawing += "</a:graphicData></a:graphic></wp:anchor></w:drawing>"
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{drawing}</mc:Choice>'
        f"<mc:Fallback>{vml_box(content)}</mc:Fallback></mc:AlternateContent></w:r>"
    )


def vml_box(content: str) -> str:
    return f"<w:pict><v:shape><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:shape></w:pict>"


def picture(link: str, description: str = "") -> str:
    """A run with a picture."""
    text = f' descr="{description}"' if description else ""
    return (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1"{text}/><a:graphic><a:graphicData><pic:pic>'
        f'<pic:blipFill><a:blip r:embed="{link}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r>"
    )
