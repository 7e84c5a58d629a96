"""A bot on the artifact: docs/chatbot.md, the adapters, and the reader installed alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from llama_index.core.retrievers import BaseRetriever as LlamaIndexRetriever
from llama_index.core.schema import MetadataMode

from artifact_maker import chunks_of, entry, write_chunks
from programs import lacking
from ragpress.adapters.langchain import RagpressRetriever as ForLangChain
from ragpress.adapters.llamaindex import RagpressRetriever as ForLlamaIndex
from ragpress.artifact.format import model_record
from ragpress.artifact.pack import pack
from ragpress.config import Config
from ragpress.embedding.embedder import Embedder
from ragpress.knowledge_base import KnowledgeBase
from ragpress.models.known import ModelFile, resolve
from ragpress.repository import Repository

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "Сколько стоит приём кардиолога?"
ANSWER = "Приём кардиолога стоит 2 500 рублей."
TEXTS = ["Приём терапевта стоит 1 900 рублей.", ANSWER, "Парковка во дворе, два часа бесплатно."]


@pytest.fixture(scope="module")
def e5() -> ModelFile:
    return resolve(Config(model="multilingual-e5-small"), Path(), report=print)


@pytest.fixture(scope="module")
def kb(e5: ModelFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact whose vectors a real model made."""
    repository = Repository(tmp_path_factory.mktemp("bot"), Config())
    (repository.root / "pyproject.toml").touch()
    target = repository.artifact
    write(target, TEXTS, e5)
    return target


def write(target: Path, texts: list[str], e5: ModelFile) -> None:
    chunks = chunks_of("цены.md", texts, "Цены")
    with Embedder(e5) as embedder:
        vectors = embedder.embed_documents([chunk.text for chunk in chunks])
    about = msgspec.structs.replace(
        entry("цены.md", len(chunks)), title="Прайс-лист", front_matter={"url": "https://example.org/prices"}
    )
    write_chunks(target, chunks, vectors, model=model_record(e5), entries=[about])


@pytest.fixture
def base(kb: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(kb) as opened:
        yield opened


# -- the page --------------------------------------------------------------------------------------------------------


def test_the_bot_of_the_page_answers_cites_and_goes_on_after_a_build(kb: Path, e5: ModelFile, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "chatbot.md").read_text(encoding="utf-8")
    (code, *_) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    asked: list[str] = []

    def complete(prompt: str) -> str:
        asked.append(prompt)
        return "2 500 [1]"

    path = tmp_path / "kb"
    write(path, TEXTS, e5)
    bot = names["Bot"](path, complete)
    assert bot.answer(QUESTION) == "2 500 [1]\n[1] Прайс-лист, Цены: https://example.org/prices"
    assert asked[0].count(ANSWER) == 1
    assert bot.answer("Какая высота у горы Эверест?") == "Об этом в документах ничего нет."
    time.sleep(0.02)
    write(path, [text.replace("2 500", "2 700") for text in TEXTS], e5)
    bot.answer(QUESTION)
    assert "2 700" in asked[-1]


def test_the_page_s_other_examples_run(kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "kb").symlink_to(kb)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "chatbot.md").read_text(encoding="utf-8")
    _, *examples = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for code in examples:
        names: dict[str, Any] = {}
        exec(code, names)
        assert names.get("documents") or names.get("nodes")


# -- adapters --------------------------------------------------------------------------------------------------------


def test_langchain_finds_the_answer_and_what_to_cite(base: KnowledgeBase) -> None:
    retriever = ForLangChain(base=base, k=2)
    assert isinstance(retriever, LangChainRetriever)
    first, second = retriever.invoke(QUESTION)
    hit = base.search(QUESTION, 1)[0]
    assert (first.page_content, first.id) == (hit.passage, hit.chunk.chunk_id)
    assert ANSWER in first.page_content
    assert first.metadata["title"] == "Прайс-лист"
    assert first.metadata["locator"] == "L2"
    assert first.metadata["confidence"] > second.metadata["confidence"]
    json.dumps(first.metadata)


def test_langchain_takes_options_of_the_search_for_all_questions_and_for_one(base: KnowledgeBase) -> None:
    retriever = ForLangChain(base=base, search_kwargs={"mode": "words"})
    assert [document.metadata["cosine"] for document in retriever.invoke("парковки")] == [None]
    assert len(retriever.invoke(QUESTION, k=1)) == 1
    assert retriever.invoke("парковки", min_confidence=1.1) == []


def test_langchain_answers_in_async_code_and_in_a_chain(base: KnowledgeBase) -> None:
    retriever = ForLangChain(base=base, k=1)

    async def ask() -> list[str]:
        found = await asyncio.gather(*(retriever.ainvoke(question) for question in (QUESTION, "Где парковка?")))
        (one,) = await retriever.ainvoke(QUESTION, mode="words")
        return [documents[0].page_content for documents in found] + [one.page_content]

    answers = asyncio.run(ask())
    assert [ANSWER in answers[0], TEXTS[2] in answers[1], ANSWER in answers[2]] == [True, True, True]
    assert ANSWER in (retriever | (lambda documents: documents[0].page_content)).invoke(QUESTION)


def test_llamaindex_finds_the_answer_and_what_to_cite(base: KnowledgeBase) -> None:
    retriever = ForLlamaIndex(base, k=2)
    assert isinstance(retriever, LlamaIndexRetriever)
    first, second = retriever.retrieve(QUESTION)
    hit = base.search(QUESTION, 1)[0]
    assert (first.node.node_id, first.score) == (hit.chunk.chunk_id, hit.score)
    assert first.node.get_content(metadata_mode=MetadataMode.LLM) == hit.passage
    assert first.metadata["title"] == "Прайс-лист"
    assert first.metadata["confidence"] > second.metadata["confidence"]
    assert ForLlamaIndex(base, mode="words", min_confidence=1.1).retrieve("парковки") == []


def test_llamaindex_does_not_hold_up_async_code(base: KnowledgeBase) -> None:
    retriever = ForLlamaIndex(base, k=1)

    async def ask() -> list[str]:
        found = await asyncio.gather(*(retriever.aretrieve(question) for question in (QUESTION, "Где парковка?")))
        return [nodes[0].text for nodes in found]

    answers = asyncio.run(ask())
    assert [ANSWER in answers[0], TEXTS[2] in answers[1]] == [True, True]


# -- the reader alone ------------------------------------------------------------------------------------------------

READER = """
import sys
from ragpress import KnowledgeBase
for path in sys.argv[1:3]:
    with KnowledgeBase.open(path) as base:
        (hit,) = base.search("кардиологу", 1, mode="words", neighbours=1, merge=True)
        assert base.search_vector([1.0] * base.manifest.model.dimensions, 2, sources=base.sources)
        assert base.search_many(["парковки"], mode="words", sections=base.sections)[0]
        base.document(hit.chunk.source), base.chunk(hit.chunk.chunk_id), base.preload(mode="words")
        print(hit.passage)
for ask in (lambda base: base.preload(), lambda base: base.search("Где?"), lambda base: base.search_many(["Где?"])):
    with KnowledgeBase.open(sys.argv[1]) as base:
        try:
            ask(base)
        except Exception as error:
            print(type(error).__name__, error)
for name in ("langchain", "llamaindex"):
    try:
        __import__("ragpress.adapters." + name)
    except ImportError as error:
        print(type(error).__name__, error)
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a virtual environment in which `pip install ragpress` alone was run."""
    folder = tmp_path_factory.mktemp("alone")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    programs = folder / "venv" / "bin"
    into = ["--python", str(programs / "python"), "install", "-q", "--prefer-binary", str(ROOT)]
    done = subprocess.run([sys.executable, "-m", "pip", *into], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lacking(f"the package cannot be installed: {done.stderr[-500:]}")
    return programs


def run(alone: Path, name: str, *arguments: object, cache: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program of the environment, without this one's variables, offline."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**outside, "RAGPRESS_CACHE": str(cache), "HF_ENDPOINT": "http://127.0.0.1:9"}
    command = [str(alone / name), *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, encoding="utf-8", check=False)


def test_the_reader_works_alone_and_names_each_extra_that_it_lacks(alone: Path, kb: Path, tmp_path: Path) -> None:
    archive = pack(Repository(kb.parent.parent, Config()))
    done = run(alone, "python", "-c", READER, kb, archive, cache=tmp_path / "cache", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    passages, errors = done.stdout.partition("ModelError")[0], done.stdout.splitlines()[-5:]
    assert passages.count(ANSWER) == 2
    assert [line.partition(" ")[0] for line in errors] == ["ModelError"] * 3 + ["ImportError"] * 2
    extras = ["starter", "starter", "starter", "langchain", "llamaindex"]
    for extra, line in zip(extras, errors, strict=True):
        assert f'pip install "ragpress[{extra}]"' in line


def test_the_reader_answers_alone_where_the_model_s_file_is_there(
    alone: Path, kb: Path, e5: ModelFile, tmp_path: Path
) -> None:
    options = ["--artifact", kb, "--model", e5.path, "-k", "1"]
    done = run(alone, "ragpress", "search", QUESTION, *options, cache=tmp_path / "cache", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ANSWER in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        "build",
        "golden",
        "accept",
        "report",
        "pack",
        "eval",
        "chunk sources",
        "tables цены.xlsx",
        "eval --sweep min_tokens=1",
    ],
)
def test_a_command_of_the_build_names_the_extra_in_one_line(alone: Path, tmp_path: Path, command: str) -> None:
    assert run(alone, "ragpress", "init", tmp_path, cache=tmp_path / "cache", cwd=tmp_path).returncode == 0
    (tmp_path / "golden").mkdir(exist_ok=True)
    (tmp_path / "golden" / "questions.jsonl").write_text('{"question": "Где?", "answer": "тут"}\n', encoding="utf-8")
    (tmp_path / "цены.xlsx").write_bytes((ROOT / "sources" / "bimeh" / "shoab.xlsx").read_bytes())
    done = run(alone, "ragpress", *command.split(), cache=tmp_path / "cache", cwd=tmp_path)
    assert done.returncode == 1
    *warnings, error = done.stderr.splitlines()
    assert 'pip install "ragpress[' in error
    assert all(": warning: " in line for line in warnings)
