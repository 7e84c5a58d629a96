"""The closed list of message codes, their one-line rendering, and the errors that a user can fix."""

from __future__ import annotations

from ragpress.records import Locator, Message, Severity

CODES: dict[str, str] = {
    # what a reader or the chunker tolerated
    "bad-part": "a part of the package could not be read",
    "bold-headings": "bold lines where a Word file could have headings",
    "caption": "a picture has no caption",
    "csv-quote": "a quotation that is not closed",
    "csv-ragged": "rows of unequal length",
    "empty-section": "a heading without a body",
    "extra-h1": "text from the second H1 on was left out",
    "front-matter": "front matter that could not be used",
    "passed-over": "files that are no sources",
    "left-out": "text was left out on purpose",
    "long-heading": "a heading or table header is too long to repeat",
    "long-word": "one word is longer than a chunk may be",
    "name": "a name that another system does not take",
    "picture": "pictures without indexed text",
    "text-encoding": "the encoding was decided by evidence",
    "xlsx-filter": "rows that a filter hides are read",
    "xlsx-formula": "a formula without a stored value",
    # what the audit found of a source
    "coverage": "visible words that are in no chunk",
    "duplicated": "words that are in the chunks more often than in the source",
    # what makes a source fail
    "bad-archive": "the file is not the archive it should be",
    "bad-encoding": "the bytes are no text",
    "conflict": "a git merge that is not finished",
    "encrypted": "the file is encrypted",
    "empty-source": "there is nothing to index",
    "file-gone": "the file cannot be read",
    "not-a-file": "a name, link, directory or device that is no source",
    "too-large": "the file expands beyond the limits",
    "too-slow": "reading took longer than allowed",
    "internal": "a fault of ragpress itself",
    "unknown-suffix": "no reader for this kind of file",
    "legacy-doc": "a file of an old format needs conversion",
    "convert": "a file could not be converted",
    # what makes a build or a command fail
    "bad-cache": "the vector cache was damaged",
    "bad-case": "a retrieval case that cannot be used",
    "bad-artifact": "the artifact is damaged or foreign",
    "bad-setting": "a setting or an argument that cannot be used",
    "cluster": "the cluster cannot go on",
    "disk": "the disk refused",
    "extra": "a library of an extra is not installed",
    "embedding": "the model returned something unusable",
    "golden": "chunks differ from their goldens",
    "model": "the model cannot be used",
    "model-offline": "the hub cannot be reached",
    "model-switch": "another model is used than before",
    "no-sources": "there is nothing to build",
    "retrieval": "the right chunks are found worse",
    "revision": "a git revision cannot be read",
    "seed": "an artifact that vectors cannot be taken from",
}
"""Code to what it stands for. A stage that needs a new one adds it here, in the fitting group."""


INSTALL_BUILD = 'run `pip install "ragpress[build]"`'


def message(severity: Severity, code: str, text: str, source: str = "", locator: Locator | None = None) -> Message:
    """A Message with a known code. Raises KeyError for a code that is not in the list."""
    CODES[code]
    return Message(severity, code, " ".join(text.split()), source, locator)


def render(found: Message, root: str = "sources/") -> str:
    """One line: `sources/a.docx:B7: warning: … [code]`."""
    place = f"{root}{found.source}" if found.source else "ragpress"
    if found.locator is not None:
        place += f":{found.locator}"
    return f"{place}: {found.severity}: {found.text} [{found.code}]"


class BuildError(Exception):
    """Fatal, and the user's to fix: file, place, what was found, what to do. Shown as one line, exit status 1."""

    def __init__(self, code: str, text: str, source: str = "", locator: Locator | None = None) -> None:
        self.message = message("error", code, text, source, locator)
        super().__init__(self.message.text)

    def __str__(self) -> str:
        return render(self.message)

    def __reduce__(self) -> tuple[type[BuildError], tuple[str, str, str, Locator | None]]:
        found = self.message  # so that the error survives the way out of a worker process
        return type(self), (found.code, found.text, found.source, found.locator)


class SourceError(BuildError):
    """One source cannot be read or chunked; the others go on."""


class ModelError(BuildError):
    """The embedding model cannot be found, fetched, trusted or used."""


class ClusterError(BuildError):
    """The workers of a build cannot go on, for no fault of a source."""


class ArtifactError(BuildError):
    """An artifact is missing, damaged, of another format, or of another model."""
