"""`ragpress search` and `ragpress verify`: what is in an artifact."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from ragpress.console import plural
from ragpress.errors import BuildError
from ragpress.records import Chunk, Hit
from ragpress.repository import repository_here


def search(options: argparse.Namespace) -> int:
    """Ranked hits for a person, or as JSON."""
    from ragpress.knowledge_base import KnowledgeBase
    from ragpress.models.selection import file_for

    artifact = options.artifact or repository_here().artifact
    with KnowledgeBase.open(artifact, model_path=options.model or file_for(artifact)) as base:
        try:
            hits = base.search(
                options.question,
                options.k,
                mode=options.mode,
                sources=options.source or None,
                sections=options.section or None,
                content_types=options.type or None,
                neighbours=options.neighbours,
            )
        except ValueError as error:
            raise BuildError("bad-setting", str(error)) from None
    if options.json:
        found = [{**msgspec.to_builtins(hit.chunk), **_scores(hit), **_around(hit)} for hit in hits]
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    elif not hits:
        reason = "no chunk has a word of it" if options.mode == "words" else "the artifact is empty"
        print(f"ragpress: nothing found: {reason}, or the filters leave nothing", file=sys.stderr)
    else:
        print("\n\n".join(_shown(number, hit) for number, hit in enumerate(hits, 1)))
    return 0


def _scores(hit: Hit) -> dict[str, float]:
    names = ("score", "cosine", "word_score", "confidence")
    return {name: round(value, 6) for name in names if (value := getattr(hit, name)) is not None}


def _around(hit: Hit) -> dict[str, object]:
    if not hit.neighbours:
        return {}
    return {"neighbours": [chunk.chunk_id for chunk in hit.neighbours], "passage": hit.passage}


def _shown(number: int, hit: Hit) -> str:
    found: Chunk = hit.chunk
    scores = "  ".join(f"{name} {value:.3f}" for name, value in _scores(hit).items())
    head = f"{number}. {scores}  {found.source}:{found.locator}"
    if found.section:
        head += f"  {found.section}"
    text = hit.passage if hit.neighbours else found.text
    return "\n".join([head, *(f"   {line}" for line in text.splitlines())])


def verify(options: argparse.Namespace) -> int:
    """Checks every file of an artifact against its index.json, and all of them against each other."""
    from ragpress.artifact.read import verify_artifact

    folder = options.folder or repository_here().artifact
    manifest = verify_artifact(folder)
    counts = manifest.counts
    held = f"{plural(counts.sources, 'source', 'sources')}, {plural(counts.chunks, 'chunk', 'chunks')}"
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    print(f"{shown}: sound ({held}, {manifest.model.name})", file=sys.stderr)
    return 0
