"""The files of a sources folder: which are sources, which are passed over, and names that make trouble."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragpress.errors import BuildError, message
from ragpress.readers import is_readable
from ragpress.records import Message
from ragpress.repository import Repository

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg"})
"""Suffixes of files that documents refer to; no sources themselves."""


class SourceFile(msgspec.Struct, frozen=True, order=True):
    """An entry of the sources folder, `file` its path. `regular` is false for what is no readable file.

    `problem` is why it cannot be a source, whatever is in it.
    """

    source: str
    file: str
    regular: bool
    problem: Message | None = None

    @property
    def path(self) -> Path:
        return Path(self.file)


class Listing(msgspec.Struct, frozen=True):
    """What is in a folder of sources, each by its NFC POSIX path, in code point order.

    Passed over are backups and leavings of programs by their names, and what the setting `exclude` says: a folder as
    one, with a slash behind.
    """

    sources: tuple[SourceFile, ...]
    passed_over: tuple[str, ...]
    excluded: tuple[str, ...]


def find_sources(repository: Repository) -> tuple[SourceFile, ...]:
    """The sources of a repository, as `list_sources` finds them."""
    return list_sources(repository.sources, repository.config.exclude).sources


def list_sources(folder: Path, exclude: Sequence[str] = ()) -> Listing:
    """Every source below the folder, and what is passed over.

    Left out in silence: names that begin with a dot, Word's and Excel's lock files (`~$…`), and pictures. A directory
    whose name ends like a source's is given as one, so that it fails by name, and so does what has a `problem`. Raises
    BuildError for a folder that cannot be listed.
    """
    walk = _Walk(folder.resolve(), re.compile("|".join(map(_glob, exclude)) or r"(?!)"))
    found = sorted(walk.below(folder, ""))
    by_name: dict[str, SourceFile] = {}
    for each in found:
        if each.source in by_name:
            twice = "two files have this same name (in different Unicode forms); rename one"
            each = _problem(each.source, each.file, "name", twice)
        by_name[each.source] = each
    return Listing(tuple(by_name.values()), tuple(sorted(walk.passed_over)), tuple(sorted(walk.excluded)))


_LEAVINGS = re.compile(
    r"(thumbs|ehthumbs)\.db|desktop\.ini|icon\r|.*~|#.*#|~.*\.tmp|.+\.(bak|tmp|swp|orig|wbk|xlk)", re.IGNORECASE
)
"""Names of files that systems and editors leave behind: views of folders, backups, unfinished writes."""

_LONGEST_NAME = 220  # bytes: a file system takes 255, and what is made of a source has a longer name


def _glob(pattern: str) -> str:
    """A regular expression for paths, or folders with all below: `*` is within a name, `**` across folders."""
    pattern = unicodedata.normalize("NFC", pattern).strip("/").removesuffix("/**")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return f"(?:{''.join(meant.get(part) or re.escape(part) for part in parts)})"


class _Walk:
    """One walk through a sources folder; `root` is where links must not lead out of."""

    def __init__(self, root: Path, exclude: re.Pattern[str]) -> None:
        self.root = root
        self.exclude = exclude
        self.passed_over: list[str] = []
        self.excluded: list[str] = []

    def below(self, folder: Path, prefix: str) -> Iterator[SourceFile]:
        try:
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            raise BuildError("no-sources", f"there is no folder {folder.name}/; make it and put documents in") from None
        except OSError as error:
            raise BuildError("file-gone", f"{folder.name}/ cannot be listed: {error.strerror}") from None
        for entry in entries:
            if not entry.name.startswith((".", "~$")):
                yield from self._entry(entry, prefix + unicodedata.normalize("NFC", entry.name))

    def _entry(self, entry: os.DirEntry[str], source: str) -> Iterator[SourceFile]:
        broken = entry.is_symlink() and not os.path.exists(entry.path)  # noqa: PTH110 (false for a loop of links)
        folder = not broken and entry.is_dir()
        if self.exclude.fullmatch(source):
            self.excluded.append(f"{source}/" if folder else source)
        elif entry.is_symlink() and not Path(os.path.realpath(entry.path)).is_relative_to(self.root):
            outside = "this link leads out of the folder; put the file itself there"
            yield _problem(source, entry.path, "not-a-file", outside)
        elif broken:
            yield _problem(source, entry.path, "not-a-file", "this link leads nowhere; put the file itself there")
        elif folder and not is_readable(source):
            yield from self.below(Path(entry.path), f"{source}/")
        elif folder:
            yield SourceFile(source, entry.path, False)
        elif _LEAVINGS.fullmatch(entry.name):
            self.passed_over.append(source)
        elif os.path.splitext(source)[1].lower() not in PICTURES:  # noqa: PTH122 (a tenth of the time, for each source)
            yield _badly_named(source, entry) or SourceFile(source, entry.path, _is_readable_file(entry))


def _is_readable_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and os.access(entry.path, os.R_OK)


def _problem(source: str, file: str, code: str, text: str) -> SourceFile:
    return SourceFile(source, file, False, message("error", code, text, source))


def _badly_named(source: str, entry: os.DirEntry[str]) -> SourceFile | None:
    """A source under another name where the build folder can have no file of its own or no message can show it."""
    name = entry.name
    if (length := len(name.encode("utf-8", "surrogateescape"))) > _LONGEST_NAME:
        shown = f"{source[: len(source) - len(name)]}{name[:40]}…{name[-10:]}"
        reason = f"its name takes {length} bytes, where {_LONGEST_NAME} are possible; shorten it"
        return _problem(shown, entry.path, "name", reason)
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        shown = source.encode("utf-8", "backslashreplace").decode()
        return _problem(shown, entry.path, "name", "its name is no UTF-8; give it another")
    return None


# -- names that Windows refuses ---------------------------------------------------------------------------------------


_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_DEVICE = re.compile(r"(?i)(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?")


def name_message(source: str) -> Message | None:
    """What Windows would not take of a source's name, so that no clone there has the file; None where it takes all.

    The rules are those of Microsoft's "Naming Files, Paths, and Namespaces".
    """
    for part in source.split("/"):
        found = _FORBIDDEN.search(part)
        if found:
            reason = f"Windows allows no {found[0]!r} in a name"
        elif part != part.rstrip(" ."):
            reason = "Windows allows no dot or space at the end of a name"
        elif _DEVICE.fullmatch(part):
            reason = f"{part} is the name of a device on Windows"
        else:
            continue
        return message("warning", "name", f"{reason}; rename it, so that the repository can be cloned there", source)
    return None
