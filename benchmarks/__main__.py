"""Runs all benchmarks, or those named, and prints a line a measurement: `python -m benchmarks [NAME …] [--model GGUF]`.

`embedding` takes the offline model and a full-size nomic-bert-moe with random weights, which `tests/gguf_maker.py`
makes here in a few minutes. Nothing else should run meanwhile.

`python -m benchmarks retrieval DIR` measures the finding of answers instead, on the documents and questions in DIR.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import builds, chunking, cluster, embedding, index, million, reading, retrieval

NAMES = ("reading", "chunking", "embedding", "index", "builds", "cluster", "million")


def measurements(name: str, folder: Path, model: Path | None) -> Iterator[tuple[str, float, str]]:
    """(what, figure, details) of one benchmark, in a scratch folder."""
    if name == "reading":
        yield from reading.run(folder)
    elif name == "chunking":
        yield from chunking.run()
    elif name == "index":
        yield from index.run(folder)
    elif name == "builds":
        yield from builds.run(folder)
    elif name == "cluster":
        yield from cluster.run(folder)
    elif name == "million":
        yield from million.run(folder)
    else:
        from ragpress.models.known import cache_folder
        from ragpress.models.starter import make_starter

        yield from embedding.run(model or full_size(folder), "nomic-embed-text-v2-moe")
        yield from embedding.run(make_starter(cache_folder()), "multilingual-e5-small")


def full_size(folder: Path) -> Path:
    """A file of the size and kind of the hub's Q6_K, with random weights."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
    from gguf_maker import FULL, quantize, write_nomic, xlm_roberta

    plain = write_nomic(folder / "full.gguf", FULL, xlm_roberta())
    return quantize(plain, folder / "full-Q6_K.gguf", "Q6_K")


def main() -> None:
    """Prints what was measured as it is measured."""
    if sys.argv[1:2] == ["retrieval"]:
        options = argparse.ArgumentParser(prog="python -m benchmarks retrieval", description=retrieval.__doc__)
        options.add_argument("folder", type=Path, help="documents and questions, by language")
        data = options.parse_args(sys.argv[2:]).folder
        with tempfile.TemporaryDirectory() as scratch:
            for line in retrieval.run(data, Path(scratch)):
                print(line, flush=True)
        return
    options = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and memory, with references.")
    options.add_argument("names", nargs="*", choices=[[], *NAMES], help=f"some of: {', '.join(NAMES)}")
    options.add_argument("--model", type=Path, help="a full-size nomic GGUF; made here otherwise")
    chosen = options.parse_args()
    names = chosen.names or NAMES
    if len(names) > 1:  # each in a process of its own, since a child begins with its parent's peak of memory
        model = ["--model", str(chosen.model)] if chosen.model else []
        for name in names:
            subprocess.run([sys.executable, "-m", "benchmarks", name, *model], check=True)
        return
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            for what, figure, details in measurements(name, Path(scratch), chosen.model):
                print(f"{what}: {figure:.3g} ({details})", flush=True)


if __name__ == "__main__":
    main()
