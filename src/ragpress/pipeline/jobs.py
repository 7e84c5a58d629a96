"""What a reading process is asked for, and what it answers."""

from __future__ import annotations

import msgspec

from ragpress.captions.document import Wanted
from ragpress.captions.uses import Use
from ragpress.config import Config
from ragpress.errors import SourceError
from ragpress.records import Chunk, DocumentEntry, Locator, Message


class Job(msgspec.Struct, frozen=True):
    """One source to chunk. `path` is where its bytes are, `tokenizer` a GGUF with the model's vocabulary.

    Without a tokenizer the reading process asks for each number of tokens.
    `prefixes` are the document prefixes of the models that may embed its chunks; tokens are counted with the first.
    `converted` is the file that was made of a source of an old format. `root` is the folder that the source is in by
    its name. With captions on, `captions` is the path of captions.jsonl, and `pictures` a folder for those without a
    caption; without one they are told in a message.
    """

    source: str
    path: str
    config: Config
    tokenizer: str
    prefixes: tuple[str, ...]
    converted: str = ""
    root: str = ""
    captions: str = ""
    pictures: str = ""


class Failure(msgspec.Struct, frozen=True, tag=True):
    """Why a source has no chunks. `lasting` tells whether the same bytes would fail again.

    `wanted` are its pictures that first need a caption, and that are in the job's folder `pictures` now.
    """

    code: str
    text: str
    source: str
    locator: Locator | None = None
    lasting: bool = True
    seconds: float = 0.0
    wanted: tuple[Wanted, ...] = ()

    def error(self) -> SourceError:
        return SourceError(self.code, self.text, self.source, self.locator)


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """What became of one source. `uses` are the pictures that it shows, where captions are on."""

    entry: DocumentEntry
    chunks: tuple[Chunk, ...]
    messages: tuple[Message, ...]
    seconds: float = 0.0
    uses: tuple[Use, ...] = ()


class Asked(msgspec.Struct, frozen=True, tag=True):
    """What a reading process has to know before it can go on: how alike the texts of each pair are, or the tokens
    of each text."""

    pairs: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()


Outcome = Compiled | Failure
