"""The namespaces of OOXML in the notation of lxml, and the elements that hold text."""

from __future__ import annotations

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
V = "{urn:schemas-microsoft-com:vml}"
OFFICE = "{urn:schemas-microsoft-com:office:office}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"

STRICT = {
    f"http://purl.oclc.org/ooxml/{name}": f"http://schemas.openxmlformats.org/{usual}"
    for name, usual in {
        "wordprocessingml/main": "wordprocessingml/2006/main",
        "spreadsheetml/main": "spreadsheetml/2006/main",
        "officeDocument/math": "officeDocument/2006/math",
        "officeDocument/relationships": "officeDocument/2006/relationships",
        "drawingml/main": "drawingml/2006/main",
        "drawingml/chart": "drawingml/2006/chart",
        "drawingml/diagram": "drawingml/2006/diagram",
        "drawingml/picture": "drawingml/2006/picture",
        "drawingml/wordprocessingDrawing": "drawingml/2006/wordprocessingDrawing",
        "drawingml/spreadsheetDrawing": "drawingml/2006/spreadsheetDrawing",
    }.items()
}
"""The namespaces of ISO/IEC 29500 strict and the transitional ones that mean the same."""

TEXTS = (W + "t", A + "t", M + "t")
OFF = ("0", "false", "off", "none")
