"""Files of old formats to docx and xlsx, by headless LibreOffice.

It runs in a process and with a profile of its own, limited in time and memory; its settings forbid macros, updates of
links and loading what a file points to, its proxy leads nowhere, and where the system lets a user do so it has no
network at all. What is converted is kept by the file's sha256, so that a file is converted once.

LibreOffice writes today's date where a field or formula asks for it, and a file's temporary name; these are taken out,
so that the same file gives the same text on another day.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

from ragpress.config import Config
from ragpress.errors import BuildError, SourceError
from ragpress.files import replace_file
from ragpress.readers import CONVERTIBLE, suffix_of
from ragpress.sandbox import Ended, run

_FILTERS = {".docx": "docx:MS Word 2007 XML", ".xlsx": "xlsx:Calc MS Excel 2007 XML"}
_PARTS = {".docx": ("libswlo.so", "libreoffice-writer"), ".xlsx": ("libsclo.so", "libreoffice-calc")}
"""The library that LibreOffice needs for a kind of file, and the Debian package that brings it."""

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_SECTOR = 512
_SETTINGS = (
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "2"),
    ("Inet/Settings", "ooInetProxyType", "1"),
    ("Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("Inet/Settings", "ooInetNoProxy", ""),
)
"""LibreOffice's settings: no macro is run, no link is followed or updated (0 and 2 are "never")."""

_FIELD = re.compile(
    rb'w:fldCharType="begin"(?![^>]*fldLock="(?:true|1|on)")[^>]*>'
    rb"(?:(?!w:fldCharType=).)*?<w:instrText[^>]*>\s*(?:DATE|TIME|FILENAME)\b[^<]*</w:instrText>"
    rb'(?:(?!w:fldCharType="(?:begin|end)").)*?w:fldCharType="separate"/>(?P<shown>.*?)w:fldCharType="end"/>',
    re.DOTALL,
)
_TEXT = re.compile(rb"(<w:t(?: [^>]*)?>)[^<]*(</w:t>)")
_FORMULA = re.compile(
    rb"(<f[^>]*>[^<]*\b(?:TODAY|NOW|RAND|RANDBETWEEN|RANDARRAY)\([^<]*</f>)<v>[^<]*</v>", re.IGNORECASE
)


def convert(data: bytes, source: str, folder: Path, config: Config) -> Path:
    """The docx or xlsx made of a source's bytes, in `folder`, named by the sha256 of those bytes.

    Raises SourceError where they are no file of the source's suffix or LibreOffice cannot open them, BuildError where
    LibreOffice is not installed or took too long.
    """
    suffix = suffix_of(source)
    made_suffix = CONVERTIBLE[suffix]
    made = folder / f"{hashlib.sha256(data).hexdigest()}{made_suffix}"
    if made.is_file():
        return made
    if not _is_one(data, suffix):
        raise SourceError(
            "convert", f"it is not a {suffix} file inside; give it the right suffix, or export it again", source
        )
    program = shutil.which("soffice") or shutil.which("libreoffice")
    package = _PARTS[made_suffix][1]
    if program is None:
        raise BuildError(
            "convert", f"converting it takes LibreOffice, which is not installed; install {package}", source
        )
    converted = _converted(data, source, Path(program), config)
    replace_file(made, converted)
    return made


def _is_one(data: bytes, suffix: str) -> bool:
    """Whether the bytes look like what the suffix says, or like what programs write under it.

    LibreOffice itself opens anything, as text if need be.
    """
    word = CONVERTIBLE[suffix] == ".docx"
    begin = data[:1024].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    if data.startswith(_OLE):
        return any(name.encode("utf-16-le") in data for name in (("WordDocument",) if word else ("Workbook", "Book")))
    if begin.startswith(b"{\\rtf"):
        return word
    return data.startswith(b"PK\x03\x04") or (begin.startswith(b"<") and suffix not in {".odt", ".ods", ".rtf"})


def _import_filter(data: bytes, made_suffix: str) -> str:
    """The filter that must read the bytes, so that damage is not taken for text; empty where LibreOffice may choose."""
    if data.startswith(_OLE) and made_suffix == ".xlsx":
        return "MS Excel 97" if "Workbook".encode("utf-16-le") in data else ""
    if data.startswith(_OLE):  # a Word document of 1997 and later begins with its mark, at the beginning of a sector
        marks = (data[at : at + 2] for at in range(_SECTOR, len(data), _SECTOR))
        return "MS Word 97" if b"\xec\xa5" in marks else ""
    if made_suffix == ".docx" and data.startswith(b"{\\rtf"):
        return "Rich Text Format"
    # Else a page would be opened in a mode that cannot be saved as a Word file.
    page = made_suffix == ".docx" and b"<html" in data[:4096].lower()
    return "HTML (StarWriter)" if page else ""


def _converted(data: bytes, source: str, program: Path, config: Config) -> bytes:
    made_suffix = CONVERTIBLE[suffix_of(source)]
    with tempfile.TemporaryDirectory(prefix="ragpress-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / f"source{suffix_of(source)}").write_bytes(data)
        _write_profile(folder / "profile")
        found = _import_filter(data, made_suffix)
        command = [
            str(program),
            *("--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck"),
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            *([f"--infilter={found}"] if found else []),
            *("--convert-to", _FILTERS[made_suffix], "--outdir", str(folder / "made"), f"source{suffix_of(source)}"),
        ]
        try:
            ended = run(
                command,
                seconds=config.source_seconds,
                megabytes=config.source_megabytes,
                folder=folder,
                variables={"HOME": name, "TMPDIR": name},
                network=False,
            )
        except TimeoutError:
            raise BuildError(
                "too-slow",
                f"LibreOffice did not convert it within {config.source_seconds} seconds; save it as {made_suffix}"
                " by hand, or raise source_seconds",
                source,
            ) from None
        made = folder / "made" / f"source{made_suffix}"
        if not made.is_file():
            raise _failure(ended, source, program)
        return _steady(made, source, config.source_megabytes << 20)


def _write_profile(folder: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for path, name, value in _SETTINGS
    )
    (folder / "user").mkdir(parents=True)
    (folder / "user" / "registrymodifications.xcu").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}'
        "</oor:items>\n",
        encoding="utf-8",
    )


def _failure(ended: Ended, source: str, program: Path) -> BuildError:
    made_suffix = CONVERTIBLE[suffix_of(source)]
    library, package = _PARTS[made_suffix]
    home = program.resolve().parent
    if (home / "soffice.bin").exists() and not (home / library).exists():
        return BuildError("convert", f"LibreOffice here has no part for such files; install {package}", source)
    if ended.status < 0 or ended.status > 128:
        return BuildError(
            "too-large",
            f"LibreOffice ended in the middle of it (status {ended.status}); save it as {made_suffix} by hand, or raise"
            " source_megabytes",
            source,
        )
    error = next((line for line in ended.errors.split("\n") if line.startswith("Error: ")), "")
    reason = f" ({error.removeprefix('Error: ').strip()[:120]})" if error else ""
    return SourceError(
        "convert",
        f"LibreOffice cannot open it{reason}: it is damaged, or protected by a password; save it as {made_suffix}",
        source,
    )


def _steady(path: Path, source: str, limit: int) -> bytes:
    """A converted file without what depends on the day, and with the same bytes for the same parts.

    Raises SourceError for one that unfolds to more than `limit` bytes.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
        if sum(entry.file_size for entry in before.infolist()) > limit:
            raise SourceError("too-large", f"converted, it takes more than {limit >> 20} MB; split the file", source)
        for entry in before.infolist():
            content = before.read(entry)
            if entry.filename.startswith("word/"):
                content = _FIELD.sub(lambda found: _TEXT.sub(rb"\1\2", found[0]), content)
            elif entry.filename.startswith("xl/worksheets/"):
                content = _FORMULA.sub(rb"\1", content)
            after.writestr(zipfile.ZipInfo(entry.filename), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()
