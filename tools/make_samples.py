"""Writes the binary samples of sources/ from the readable data beside this file.

Run by hand after the data was edited: `python tools/make_samples.py`. The same data gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import samples_bimeh_answers as answers
import samples_bimeh_forms as forms
import samples_bimeh_guides as guides
import samples_bimeh_sheets as sheets
import samples_klinika as klinika

SAMPLES: dict[str, Callable[[], bytes]] = {
    "bimeh/shoab.xlsx": sheets.branches,
    "bimeh/taarefe.xlsx": sheets.rates,
    "bimeh/سوالات متداول.xlsx": answers.frequent,
    "bimeh/khesarat.docx": answers.claims,
    "bimeh/omr.docx": answers.life,
    "bimeh/khodro.docx": guides.guide,
    "bimeh/atash.docx": guides.conditions,
    "bimeh/form.docx": forms.form,
    "bimeh/barnamak.docx": forms.manual,
    "klinika/analizy.docx": klinika.laboratory,
    "klinika/Правила посещения.docx": klinika.rules,
    "klinika/prajs.csv": klinika.prices,
}


def main() -> None:
    """Writes every sample whose bytes differ and names it."""
    root = Path(__file__).resolve().parent.parent / "sources"
    for name, build in SAMPLES.items():
        path = root / name
        data = build()
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            print(path.relative_to(root.parent).as_posix())


if __name__ == "__main__":
    main()
