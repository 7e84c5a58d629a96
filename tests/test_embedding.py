from __future__ import annotations

import collections
import itertools
import random
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gguf
import msgspec
import numpy as np
import pytest

from gguf_maker import quantize, write_nomic
from ragpress.config import Config
from ragpress.embedding import embedder as embedding
from ragpress.embedding.embedder import Embedder, TokenCounter
from ragpress.embedding.llama import Vector, engine
from ragpress.errors import ModelError
from ragpress.models.known import KNOWN, ModelFile, resolve
from ragpress.vectors.digests import vector_keys

TINY = msgspec.structs.replace(KNOWN["nomic-embed-text-v2-moe"], dimensions=64)
WORDS = [
    *("приём", "врача", "в", "будни", "с", "восьми", "до", "двадцати", "часов", "№7", "12.5", "insurance", "claim"),
    *("سلام", "می\u200cروم", "شعبه", "اصفهان"),
]
NASTY = [
    *(chr(code) for code in range(0x110000) if chr(code).isspace()),
    *"\u200b\u200c\u200d\u200e\u200f\u202b\u2060\ufeff\ufffd\u2581\ufdfa\ufdfb\u00a8\u00b4\u0300\u0301\u0308\u0338",
    *"\u064b\u0651\u0653\u0654\u0670\u061c\xad\x00\x01\x02\x07\x08\x1b\x7f\x80\x8f\x9f👩🏽🚀🏳\ufe0f\u3099\u0345\u1fbd\u037a",
    *("\u1160", "\u11a8", "\u1100", "가", "각", "①", "㎏", "ﬁ", "<s>", "</s>", "<mask>", "<unk>", "e\u0301", "中文"),
]


@pytest.fixture(scope="module")
def starter() -> ModelFile:
    return resolve(Config(model="multilingual-e5-small"), Path(), report=print)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    return _tiny(write_nomic(tmp_path_factory.mktemp("tiny") / "tiny.gguf"))


@pytest.fixture(scope="module")
def e5(starter: ModelFile) -> Iterator[Embedder]:
    with Embedder(starter) as embedder:
        yield embedder


def _tiny(path: Path, dimensions: int = 64) -> ModelFile:
    return ModelFile(model=TINY, path=path, sha256="0" * 64, size=path.stat().st_size, dimensions=dimensions)


def _texts(number: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, k=chosen.randint(1, 90))) for _ in range(number)]


# counting


def test_counts_are_exact_on_texts_made_of_what_breaks_tokenizers(starter: ModelFile) -> None:
    count = TokenCounter(starter.path, "search_document: ")
    assert count._words is not None  # else this would compare a thing with itself
    chosen = random.Random(7)
    fast = 0
    for _ in range(20_000):
        parts = (
            chosen.choice(NASTY) if kind < 0.4 else chosen.choice(WORDS) if kind < 0.7 else chosen.choice(" \n.,-")
            for kind in (chosen.random() for _ in range(chosen.randint(0, 20)))
        )
        text = "".join(parts)
        fast += embedding._NO_BOUNDARY.search(text) is None
        assert count(text) == count.exact(text), ascii(text)
    assert fast > 5_000


def test_no_piece_of_the_vocabulary_holds_a_space_behind_its_beginning(starter: ModelFile) -> None:
    weights, _ = embedding._vocabulary(starter.path, (starter.path.stat().st_mtime_ns, starter.size))
    assert [piece for piece in weights.pieces(range(250_002)) if "\u2581" in piece[1:]] == []


def test_a_vocabulary_with_a_piece_across_a_space_is_counted_whole(tiny: ModelFile) -> None:
    count = TokenCounter(tiny.path, "")
    assert count("w e") == 1 + 1 + 2  # the space before, the piece "w e", two special tokens
    assert count("w") == count("e") == 1 + 1 + 2


def test_the_word_cache_stays_bounded(starter: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_CACHED_WORDS", 50)
    count = TokenCounter(starter.path, "")
    assert count._words is not None
    text = " ".join(f"слово{number}" for number in range(500)) + " " + "ъ" * 5000
    assert count(text) == count.exact(text)
    assert len(count._words) <= 50
    assert max(map(len, count._words)) <= embedding._LONG_WORD


def test_counting_from_several_threads_gives_the_same_numbers(starter: ModelFile) -> None:
    count = TokenCounter(starter.path, "passage: ")
    texts = _texts(300, seed=3)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, texts)) == [count.exact(text) for text in texts]


@pytest.mark.parametrize("content", [b"", b"GGUF", b"no model at all" * 100])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"llama\.cpp cannot load broken\.gguf: .*; fetch the file again"):
        TokenCounter(path, "")
    with pytest.raises(ModelError, match=r"the model file gone\.gguf cannot be read"):
        TokenCounter(tmp_path / "gone.gguf", "")
    assert capfd.readouterr() == ("", "")


# embedding


@pytest.mark.parametrize("words", [10, 300, 503, 504, 505, 600, 3000])
def test_a_long_text_gives_a_unit_vector_or_an_error_with_both_counts(e5: Embedder, words: int) -> None:
    text = " ".join(["да"] * words)
    tokens = TokenCounter(e5.file.path, e5.file.model.document_prefix)(text)
    if tokens <= 512:
        vector = e5.embed_documents([text])
        assert vector.shape == (1, 384)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    else:
        with pytest.raises(ModelError, match=rf"0123abcd has {tokens} tokens, the model reads at most 512"):
            e5.embed_documents([text], names=["0123abcd"])


def test_a_text_of_just_the_models_limit_is_embedded(e5: Embedder) -> None:
    count = TokenCounter(e5.file.path, e5.file.model.document_prefix)
    longest = " ".join(["да"] * (512 - count.overhead))
    assert count(longest) == 512
    assert np.isfinite(e5.embed_documents([longest])).all()


def test_a_vector_does_not_depend_on_company_order_or_threads(starter: ModelFile) -> None:
    texts = [*_texts(12), "да", ""]
    with Embedder(starter, threads=2) as two, Embedder(starter, threads=1) as one:
        together = two.embed_documents(texts)
        assert np.array_equal(together, two.embed_documents(texts[::-1])[::-1])
        assert np.array_equal(together, np.concatenate([one.embed_documents([text]) for text in texts]))


def test_a_vector_is_the_same_in_another_process(tiny: ModelFile) -> None:
    program = (
        "import sys; from test_embedding import _tiny, _texts; from ragpress.embedding.embedder import Embedder;"
        "from pathlib import Path\n"
        "with Embedder(_tiny(Path(sys.argv[1]))) as e: sys.stdout.write(e.embed_documents(_texts(5)).tobytes().hex())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tiny.path)],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    with Embedder(tiny) as embedder:
        assert ran.stdout == embedder.embed_documents(_texts(5)).tobytes().hex()


def test_the_right_prefix_goes_before_documents_and_questions(starter: ModelFile) -> None:
    bare = msgspec.structs.replace(starter, model=msgspec.structs.replace(
        starter.model, document_prefix="", query_prefix=""
    ))  # fmt: skip
    text = "часы работы"
    with Embedder(starter) as embedder, Embedder(bare) as plain:
        assert np.array_equal(embedder.embed_documents([text])[0], plain.embed_query("passage: " + text))
        assert np.array_equal(embedder.embed_query(text), plain.embed_query("query: " + text))
        assert not np.array_equal(embedder.embed_query(text), embedder.embed_documents([text])[0])
    assert vector_keys(starter, [text]) != vector_keys(bare, [text])


def test_the_models_architecture_runs_through_the_real_llama_cpp(tiny: ModelFile, tmp_path: Path) -> None:
    texts = _texts(12)
    with Embedder(tiny) as embedder:
        exact = embedder.embed_documents(texts)
    assert exact.shape == (12, 64)
    assert np.linalg.norm(exact, axis=1) == pytest.approx(np.ones(12), abs=1e-5)
    assert len(np.unique(exact.round(3), axis=0)) == 12
    with Embedder(_tiny(quantize(tiny.path, tmp_path / "q8.gguf", "Q8_0"))) as embedder:
        assert (embedder.embed_documents(texts) * exact).sum(axis=1).min() > 0.99


def test_mean_pooling_is_asked_for_whatever_the_file_says(tiny: ModelFile, tmp_path: Path) -> None:
    none = write_nomic(tmp_path / "none.gguf", pooling=gguf.PoolingType.NONE)
    texts = _texts(3)
    with Embedder(tiny) as mean, Embedder(_tiny(none)) as asked:
        assert np.array_equal(mean.embed_documents(texts), asked.embed_documents(texts))


def test_fewer_dimensions_are_the_first_ones_at_unit_length(tiny: ModelFile) -> None:
    with Embedder(tiny) as whole, Embedder(_tiny(tiny.path, 16)) as cut:
        long, short = whole.embed_documents(_texts(4)), cut.embed_documents(_texts(4))
    first = long[:, :16] / np.linalg.norm(long[:, :16], axis=1, keepdims=True)
    assert short == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("dimensions", [0, 65])
def test_dimensions_that_the_model_lacks_are_refused(tiny: ModelFile, dimensions: int) -> None:
    with pytest.raises(ModelError, match=f"dimensions = {dimensions}, but nomic-embed-text-v2-moe has 64"):
        Embedder(_tiny(tiny.path, dimensions))


def test_a_model_that_returns_nan_is_refused(tmp_path: Path) -> None:
    with Embedder(_tiny(write_nomic(tmp_path / "nan.gguf", broken=True))) as embedder:
        with pytest.raises(ModelError, match="a vector that is not finite for 00ff"):
            embedder.embed_documents(["слово"], names=["00ff"])
        with pytest.raises(ModelError, match="a vector that is not finite for the question"):
            embedder.embed_query("слово")


def test_another_model_than_the_settings_say_is_refused(starter: ModelFile, tiny: ModelFile) -> None:
    wrong = ModelFile(model=KNOWN["nomic-embed-text-v2-moe"], path=starter.path, sha256="", size=0, dimensions=768)
    with pytest.raises(ModelError, match="is a bert model of 384 dimensions, nomic-embed-text-v2-moe is"):
        Embedder(wrong)


def test_a_truncated_model_is_refused_in_one_line(
    tiny: ModelFile, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny.path.read_bytes()[:-20_000])
    with pytest.raises(ModelError, match=r"cannot load cut\.gguf: .*not within the file bounds") as caught:
        Embedder(_tiny(cut))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_contexts_keep_no_memory_for_the_logits_of_a_quarter_million_pieces(starter: ModelFile) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with Embedder(starter, threads=2) as embedder:
        before = resident()
        embedder.embed_documents([" ".join(["да"] * 490)] * 2)
        assert resident() - before < 150e6


def test_no_texts_give_no_vectors(tiny: ModelFile) -> None:
    with Embedder(tiny) as embedder:
        assert embedder.embed_documents([]).shape == (0, 64)


def test_results_are_handed_out_while_the_work_goes_on(tiny: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_SAVE_SECONDS", 0.0)
    batches: list[list[tuple[int, Vector]]] = []
    seen: list[int] = []
    texts = _texts(30)
    with Embedder(tiny) as embedder:
        vectors = embedder.embed_documents(texts, on_batch=batches.append, progress=seen.append)
    assert len(batches) > 5
    handed = dict(itertools.chain.from_iterable(batches))
    assert sorted(handed) == list(range(30))
    assert all(np.array_equal(vectors[index], vector) for index, vector in handed.items())
    assert sorted(seen) == list(range(30))


def test_an_interruption_hands_out_what_is_done_and_leaves_the_embedder_usable(tiny: ModelFile) -> None:
    kept: list[tuple[int, Vector]] = []
    seen: list[int] = []
    before = threading.active_count()

    def interrupt(index: int) -> None:
        seen.append(index)
        if len(seen) == 7:
            raise KeyboardInterrupt

    with Embedder(tiny) as embedder:
        with pytest.raises(KeyboardInterrupt):
            embedder.embed_documents(_texts(40), on_batch=kept.extend, progress=interrupt)
        assert len(kept) == 7
        whole = embedder.embed_documents(_texts(40))
        assert threading.active_count() <= before
    assert all(np.array_equal(whole[index], vector) for index, vector in kept)


def test_a_signal_that_comes_while_llama_cpp_logs_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ctypes prints and forgets what a callback raises; the handler of `tasks` raises wherever the process is."""

    class Interrupting(collections.deque[str]):
        def append(self, line: str) -> None:
            signal.raise_signal(signal.SIGTERM)

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    (tmp_path / "bad.gguf").write_bytes(b"no model")
    monkeypatch.setattr("ragpress.embedding.llama._log", Interrupting())
    usual = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(SystemExit):
            TokenCounter(tmp_path / "bad.gguf", "")
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_questions_may_come_from_several_threads(tiny: ModelFile) -> None:
    texts = _texts(40)
    with Embedder(tiny, threads=2) as embedder:
        alone = [embedder.embed_query(text) for text in texts]
        with ThreadPoolExecutor(8) as pool:
            assert np.array_equal(np.stack(list(pool.map(embedder.embed_query, texts))), np.stack(alone))


def test_the_engine_is_named_with_versions_and_switches(tiny: ModelFile) -> None:
    with Embedder(tiny) as embedder:
        assert embedder.engine == engine()
    for part in ("llama.cpp ", "llama-cpp-python 0.", "flash-attention", "extra-buffers"):
        assert part in engine()


def test_llama_cpp_is_begun_once_whichever_thread_comes_first() -> None:
    """Begun twice, it would keep a pointer to a log callback that is gone."""
    code = (
        "import threading, time, llama_cpp\n"
        "from ragpress.embedding.llama import engine\n"
        "real, times = llama_cpp.llama_log_set, []\n"
        "def slow(*arguments):\n"
        "    times.append(1)\n"
        "    time.sleep(0.05)\n"
        "    real(*arguments)\n"
        "llama_cpp.llama_log_set = slow\n"
        "threads = [threading.Thread(target=engine) for _ in range(8)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
        "print(len(times))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
