"""Figures over ranks, their table, and the gate's verdict on them. No model is needed."""

from __future__ import annotations

import pytest

from ragpress.config import Config
from ragpress.errors import BuildError
from ragpress.evaluation import by_source, figures, language, report_lines, table
from ragpress.evaluation.gate import Baseline, decide
from ragpress.evaluation.measuring import Result
from ragpress.evaluation.record import Record, Records, compare, encode_records, labels, updated
from results import result

MODEL = "multilingual-e5-small"


def records(**ranks: int | None) -> Records:
    return {MODEL: Record(figures(list(ranks.values())), dict(ranks))}


def verdict(
    config: Config, found: Records, *results: Result, base: Records | None = None, strict: bool = False
) -> tuple[list[str], str]:
    """What the gate says, and the error it ends with."""
    said: list[str] = []
    baseline = None if base is None else Baseline("origin/main", base)
    try:
        decide(config, found, MODEL, results, said.append, baseline, must_compare=strict)
    except BuildError as error:
        return said, str(error)
    return said, ""


# -- figures ---------------------------------------------------------------------------------------------------------


def test_the_figures_are_shares_and_the_mean_reciprocal_rank() -> None:
    found = figures([1, 2, 5, 10, None])
    assert (found.questions, found.hit_at_1, found.hit_at_3, found.hit_at_5) == (5, 0.2, 0.4, 0.6)
    assert found.mrr_at_10 == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 10) / 5, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Где ОМС?", "ru"),
        ("شمارهٔ VPN چند است؟", "fa"),
        ("Where?", "other"),
        ("12?", "other"),
        ("Fedora — это что", "ru"),
    ],
)
def test_the_script_tells_the_language(question: str, found: str) -> None:
    assert language(question) == found


def test_the_table_keeps_names_behind_the_numbers() -> None:
    results = [result(1, "Где?", "شعبه.xlsx"), result(None, "کجا؟", "شعبه.xlsx"), result(3, "Когда?", "a.md", "b.md")]
    lines = table(results)
    assert [line.split() for line in lines] == [
        ["questions", "hit@1", "hit@3", "hit@5", "MRR@10"],
        ["total", "3", "0.3333", "0.6667", "0.6667", "0.4444"],
        ["language", "1", "0.0000", "0.0000", "0.0000", "0.0000", "fa"],
        ["language", "2", "0.5000", "1.0000", "1.0000", "0.6667", "ru"],
        ["source", "1", "0.0000", "1.0000", "1.0000", "0.3333", "a.md,", "b.md"],
        ["source", "2", "0.5000", "0.5000", "0.5000", "0.5000", "شعبه.xlsx"],
    ]
    assert len({line.rindex("MRR@10") if "MRR" in line else line.rindex("0.") for line in lines}) == 1
    assert by_source(results)["a.md, b.md"].questions == 1


def test_the_questions_that_are_missed_are_listed_with_what_came_first() -> None:
    lines = report_lines([result(5, "Где?"), result(6, "Когда?"), result(None, "کجا؟", scores=())])
    assert lines[lines.index("") :] == [
        "",
        "golden/questions.jsonl:6: rank 6",
        "    question  Когда?",
        "    first     klinika/wiki.md:L1",
        "    section   Оплата",
        "    text      hit 1",
        "",
        "golden/questions.jsonl:4: beyond rank 10",
        "    question  کجا؟",
    ]


# -- the verdict -----------------------------------------------------------------------------------------------------


def test_what_is_as_good_as_recorded_passes() -> None:
    said, error = verdict(Config(), records(Где=1, Когда=3), result(1, "Где"), result(2, "Когда"))
    assert error == ""
    assert said == [
        "ragpress: against golden/retrieval.json: 0 questions worse, 1 better, hit@5 1.0000 → 1.0000,"
        " MRR@10 0.6667 → 0.7500"
    ]


def test_a_question_that_got_worse_is_named_with_what_came_first() -> None:
    said, _ = verdict(Config(), records(Где=1, Когда=2), result(None, "Где"), result(2, "Когда"))
    assert said[:-1] == [
        "golden/questions.jsonl:3: rank 1 before, now beyond rank 10",
        "    question  Где",
        "    first     klinika/wiki.md:L1",
        "    section   Оплата",
        "    text      hit 1",
    ]


@pytest.mark.parametrize(
    ("allowed", "now", "fallen"),
    [
        (0.25, [1, 1, 1, 6], []),
        (0.25, [1, 1, 6, 6], ["hit@5", "MRR@10"]),
        (0.1, [1, 1, 3, 3], ["MRR@10"]),  # found all the same, but further down
        (0.02, [1, 1, 1, 1], []),
    ],
)
def test_a_fall_beyond_the_setting_fails(allowed: float, now: list[int | None], fallen: list[str]) -> None:
    results = [result(rank, question) for rank, question in zip(now, "абвг", strict=True)]
    _, error = verdict(Config(max_hit_drop=allowed), records(**dict.fromkeys("абвг", 1)), *results)
    assert [name for name in ("hit@5", "MRR@10") if f"{name} fell from 1.0000 to " in error] == fallen
    assert error.count("\n") == 0
    assert ("accept it by `ragpress accept --retrieval`" in error) == bool(fallen)


def test_hit_at_5_below_the_minimum_fails_and_names_the_missed() -> None:
    results = [result(5, "Где"), result(6, "Когда")]
    assert verdict(Config(min_hit_at_5=0.5), {}, *results)[1] == ""
    said, error = verdict(Config(min_hit_at_5=0.6), {}, *results)
    assert said[0] == "golden/questions.jsonl:5: rank 6"
    assert error.startswith("ragpress: error: hit@5 is 0.5000, below min_hit_at_5 = 0.6; fix ")


def test_figures_of_two_models_are_not_compared() -> None:
    found = {"another-model": records(Где=1)[MODEL]}
    said, error = verdict(Config(), found, result(None, "Где"))
    assert error == ""
    assert "has figures of another-model, which those of multilingual-e5-small cannot be compared with" in said[0]
    assert list(updated(found, MODEL, [result(2, "Где")])) == ["another-model", MODEL]


def test_where_figures_must_be_compared_it_is_an_error_that_there_are_none() -> None:
    others = {"another-model": records(Где=1)[MODEL]}
    for found, what in (({}, "there are no figures to compare with"), (others, "has figures of another-model")):
        assert verdict(Config(), found, result(1, "Где"))[1] == ""
        assert what in verdict(Config(), found, result(1, "Где"), strict=True)[1]
    assert verdict(Config(), records(Где=1), result(1, "Где"), strict=True)[1] == ""


def test_a_fall_below_the_base_fails_although_the_record_was_rewritten_until_it_was_accepted_on_purpose() -> None:
    base, now = records(Где=1, Когда=1), (result(None, "Где"), result(1, "Когда"))
    said, error = verdict(Config(), records(Где=None, Когда=1), *now, base=base)
    assert "hit@5 fell from 1.0000 to 0.5000 and MRR@10 fell from 1.0000 to 0.5000 against origin/main" in error
    assert "golden/questions.jsonl:3: rank 1 before, now beyond rank 10" in said
    assert verdict(Config(), {}, *now, base=base)[1] != "", "nor does it help to delete the record"
    accepted = updated(base, MODEL, now)
    said, error = verdict(Config(), accepted, *now, base=base)
    assert error == ""
    assert said[-1] == "ragpress: this was accepted by `ragpress accept --retrieval`, as golden/retrieval.json says"
    better = records(Где=1, Когда=1, Куда=1)
    assert verdict(Config(), accepted, *now, base=better)[1] == "", "compared is what both asked"
    assert "fell" in verdict(Config(), updated(accepted, MODEL, now), result(None, "Где"), result(None, "Когда"))[1]


def test_figures_that_were_given_up_stay_on_record_until_they_are_reached_again() -> None:
    base = records(Где=1, Когда=1)
    lower = updated(base, MODEL, [result(None, "Где"), result(1, "Когда")])
    assert b'"accepted_below": {\n   "hit@5": 1.0,\n   "mrr@10": 1.0\n  }' in encode_records(lower)
    still = updated(lower, MODEL, [result(3, "Где"), result(1, "Когда")])
    assert b"accepted_below" in encode_records(still)
    assert b"accepted_below" not in encode_records(updated(still, MODEL, [result(1, "Где"), result(1, "Когда")]))
    assert b"accepted_below" not in encode_records(base)


def test_a_new_question_is_no_fall_and_a_question_no_longer_asked_is_forgotten() -> None:
    before = records(Где=1, Куда=1)
    results = [result(1, "Где"), result(None, "Когда")]
    assert verdict(Config(), before, *results)[1] == ""
    assert updated(before, MODEL, results)[MODEL].ranks == {"Где": 1, "Когда": None}


# -- what is recorded ------------------------------------------------------------------------------------------------


def test_a_question_asked_twice_is_recorded_twice() -> None:
    assert labels([result(1, "Где?"), result(1, " Где? "), result(1, "Когда?")]) == ["Где?", "Где? [2]", "Когда?"]


def test_only_questions_asked_then_and_now_are_compared() -> None:
    record = Record(figures([1, 2]), {"Где?": 1, "Куда?": 2})
    (found,) = compare(record, [result(None, "Где?"), result(1, "Когда?")])
    assert (found.result.case.question, found.before, found.now) == ("Где?", 1, None)
    assert found.is_worse


@pytest.mark.parametrize(("gap", "level"), [(0.02, 1), (0.06, 2)])
def test_a_tie_that_another_processor_may_decide_otherwise_is_no_change(gap: float, level: int) -> None:
    record = Record(figures([1]), {"Где?": 1})
    (found,) = compare(record, [result(2, "Где?", scores=(8, 8 - gap, 7))])
    assert found.now == level
    assert found.is_worse == (level == 2)
    assert updated({MODEL: record}, MODEL, [found.result])[MODEL].ranks == {"Где?": level}


def test_the_record_is_sorted_and_has_a_question_a_line() -> None:
    record = Record(figures([1, None]), {"Где?": 1, "کجا؟": None})
    lines = encode_records({"z": record, "a": record}).decode().splitlines()
    assert [line.strip() for line in lines if "?" in line or "؟" in line] == ['"Где?": 1,', '"کجا؟": null'] * 2
    assert [line for line in lines if line.startswith(' "')] == [' "a": {', ' "z": {']
