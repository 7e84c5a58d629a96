"""Makes the captions that are missing, several at once, and keeps each in captions.jsonl as soon as it is there."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ragpress.captions.document import Uncaptioned, clean
from ragpress.captions.engine import EngineError, engine
from ragpress.captions.store import NAME, Caption, read_captions, write_captions
from ragpress.config import Config
from ragpress.console import Progress, Report, plural
from ragpress.errors import BuildError


class CaptionMaker:
    """Makes captions for one build; safe from several threads, which take turns.

    Once the engine itself has failed, no further picture is tried.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()  # captions.jsonl is read, added to and written as a whole
        self._broken: EngineError | None = None

    def make(
        self,
        uncaptioned: Mapping[str, tuple[Uncaptioned, str]],
        pictures: Path,
        store: Path,
        config: Config,
        report: Report,
    ) -> dict[str, BuildError]:
        """Has the configured engine describe pictures. Returns, by sha256, why some have no caption.

        `uncaptioned` gives by sha256 a picture and where it was found (`guide.docx:B7`); its bytes are in the folder
        `pictures` under `picture_name`. Raises BuildError where `store`, the path of captions.jsonl, cannot be read or
        written.
        """
        with self._turn:
            captions = read_captions(store)
            todo = [digest for digest in uncaptioned if digest not in captions]
            if not todo:
                return {}
            try:
                chosen = engine(config)
            except EngineError as error:
                return dict.fromkeys(todo, error)
            failed: dict[str, BuildError] = {}

            def make(digest: str) -> str:
                if self._broken is not None:
                    raise self._broken
                picture = uncaptioned[digest][0]
                try:
                    data = (pictures / picture_name(picture)).read_bytes()
                    return clean(chosen.caption(data, picture.media_type))
                except EngineError as error:
                    self._broken = error
                    raise
                except OSError as error:
                    text = f"the picture cannot be read back: {error.strerror}; build again"
                    raise BuildError("disk", text) from None

            with ThreadPoolExecutor(chosen.at_once) as threads, Progress("captions", len(todo), "pictures") as shown:
                futures = {threads.submit(make, digest): digest for digest in todo}
                try:
                    for future in as_completed(futures):
                        digest = futures[future]
                        shown.advance()
                        try:
                            text = future.result()
                        except BuildError as error:
                            failed[digest] = error
                            continue
                        captions[digest] = Caption(digest, chosen.name, uncaptioned[digest][1], text)
                        write_captions(store, captions.values())
                except BaseException:
                    threads.shutdown(wait=False, cancel_futures=True)
                    raise
            made = len(todo) - len(failed)
            if made:
                new = plural(made, "caption", "captions")
                report(f"ragpress: {new} by {chosen.name} added to {NAME}; read, and commit it with the goldens")
            return failed


def picture_name(picture: Uncaptioned) -> str:
    """What a picture's file is called while it waits for a caption."""
    return f"{picture.sha256}.{picture.media_type.removeprefix('image/')}"
