"""golden/retrieval.json: the figures and ranks that were accepted, by model, and results compared with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from ragpress.errors import BuildError
from ragpress.evaluation.measuring import DEPTH, Figures, Result, figures
from ragpress.repository import Repository
from ragpress.review.git import file_at
from ragpress.text.conflicts import UNRESOLVED, conflict_line

RECORD = "retrieval.json"

TIE = 0.04
"""Scores that differ by no more may change places on another CPU, whose vectors differ in their last bits.

Measured with the offline model and flash attention on and off: the difference of two cosines among the first ten
changed by more than 0.001 in one pair of a hundred. A hybrid score divides that by the deviation of the cosines, which
is 0.02 to 0.03.
"""

_LITTLE = 1e-9  # shares are rounded

Rank = Annotated[int, msgspec.Meta(ge=1, le=DEPTH)]


class Marks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The two figures that the gate compares."""

    hit_at_5: float = msgspec.field(name="hit@5")
    mrr_at_10: float = msgspec.field(name="mrr@10")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What golden/retrieval.json holds of one model: its figures, and the rank of each question; null for not found.

    `accepted_below` has the better figures that were given up for these by `ragpress accept --retrieval`. It goes when
    they are reached again.
    """

    figures: Figures
    ranks: dict[str, Rank | None]
    accepted_below: Marks | None = None

    def marks(self) -> Marks:
        return Marks(self.figures.hit_at_5, self.figures.mrr_at_10)


Records = dict[str, Record]
"""Model name to record: figures of two models are not comparable."""


class Compared(msgspec.Struct, frozen=True):
    """A question and its ranks. `now` is what it was where only a tie of scores was decided otherwise."""

    result: Result
    before: int | None
    now: int | None

    @property
    def is_worse(self) -> bool:
        return (self.now or DEPTH + 1) > (self.before or DEPTH + 1)

    @property
    def is_better(self) -> bool:
        return (self.now or DEPTH + 1) < (self.before or DEPTH + 1)


# -- comparing -------------------------------------------------------------------------------------------------------


def labels(results: Sequence[Result]) -> list[str]:
    """The questions, each by another name: one that several cases ask is numbered from the second on."""
    found: dict[str, None] = {}
    for result in results:
        question = " ".join(result.case.question.split())
        label, number = question, 1
        while label in found:
            number += 1
            label = f"{question} [{number}]"
        found[label] = None
    return list(found)


def compare(record: Record, results: Sequence[Result]) -> list[Compared]:
    """The questions that were asked then and are asked now, whatever the cases expect."""
    pairs = zip(labels(results), results, strict=True)
    return [
        Compared(result, record.ranks[label], _level(result, record.ranks[label]))
        for label, result in pairs
        if label in record.ranks
    ]


def _level(result: Result, before: int | None) -> int | None:
    """The rank now; the rank before where the chunk at that place and the right one have as good as the same score."""
    now, hits = result.rank, result.hits
    if now is None or before is None or before > len(hits):
        return now
    return before if abs(hits[before - 1].score - hits[now - 1].score) <= TIE else now


def falls(compared: Sequence[Compared], allowed: float = 0.0) -> list[str]:
    """`hit@5 fell from 0.5000 to 0.3333`, for each of the two figures that fell by more than allowed."""
    if not compared:
        return []
    before, now = figures([one.before for one in compared]), figures([one.now for one in compared])
    pairs = (("hit@5", before.hit_at_5, now.hit_at_5), ("MRR@10", before.mrr_at_10, now.mrr_at_10))
    return [f"{name} fell from {old:.4f} to {new:.4f}" for name, old, new in pairs if old - new > allowed + _LITTLE]


def gave_up(record: Record | None, base: Record) -> bool:
    """Whether the figures of `base` were given up on purpose, as the record says."""
    given, old = record.accepted_below if record else None, base.marks()
    return given is not None and given.hit_at_5 >= old.hit_at_5 - _LITTLE and given.mrr_at_10 >= old.mrr_at_10 - _LITTLE


# -- recording -------------------------------------------------------------------------------------------------------


def updated(records: Records, model: str, results: Sequence[Result]) -> Records:
    """The records with these results in the place of the model's old ones; what is only a tie stays as it was."""
    old = records.get(model)
    compared = compare(old, results) if old else []
    kept = {one.result.case.place: one.now for one in compared}
    ranks = [kept.get(result.case.place, result.rank) for result in results]
    record = Record(figures(ranks), dict(sorted(zip(labels(results), ranks, strict=True))))
    if old is not None:
        record = msgspec.structs.replace(record, accepted_below=_given_up(old, record, bool(falls(compared))))
    return {**records, model: record}


def _given_up(old: Record, new: Record, fell: bool) -> Marks | None:
    """The best of what is given up now and was before, until both figures are reached again."""
    found = [old.accepted_below] if old.accepted_below else []
    found += [old.marks()] if fell else []
    if not found:
        return None
    best = Marks(max(one.hit_at_5 for one in found), max(one.mrr_at_10 for one in found))
    now = new.marks()
    reached = now.hit_at_5 >= best.hit_at_5 - _LITTLE and now.mrr_at_10 >= best.mrr_at_10 - _LITTLE
    return None if reached else best


# -- golden/retrieval.json -------------------------------------------------------------------------------------------


def read_records(repository: Repository) -> Records:
    """What was recorded, empty where nothing was. Raises BuildError for a file that is damaged."""
    path = repository.golden / RECORD
    name = f"{repository.config.golden}/{RECORD}"
    try:
        return _decode(path.read_bytes(), name)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BuildError("retrieval", f"{name} cannot be read: {error.strerror}") from None


def records_at(repository: Repository, revision: str) -> Records:
    """What was recorded at a git revision, empty where nothing was. Raises BuildError for a file that is damaged."""
    path = f"{repository.config.golden}/{RECORD}"
    data = file_at(repository.root, revision, path)
    return _decode(data, f"{path} at {revision}") if data is not None else {}


def _decode(data: bytes, name: str) -> Records:
    try:
        return msgspec.json.decode(data, type=Records)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        line = conflict_line(data.decode("utf-8", "replace"))
        if line:
            raise BuildError("conflict", f"{name}:{line}: {UNRESOLVED}; resolve it in this file") from None
        raise BuildError("retrieval", f"{name} is damaged ({error}); run `ragpress accept` to write it again") from None


def encode_records(records: Records) -> bytes:
    """The file: models and questions sorted, a question a line, so that a change shows what it changes."""
    return msgspec.json.format(msgspec.json.encode(dict(sorted(records.items()))), indent=1) + b"\n"
