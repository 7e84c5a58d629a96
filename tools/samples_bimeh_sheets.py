"""Workbooks of the insurer: the branch directory as people keep it, and the tariffs with number formats."""

from __future__ import annotations

import datetime
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill

from samples_common import packed

BRANCH_TITLE = "فهرست شعب بیمهٔ هفت‌کاج — آبان ۱۴۰۵"
BRANCH_HEADER = ("استان", "شهر", "نام شعبه", "کد شعبه", "نشانی", "تلفن", "ساعت کار")
# A province is written once, in a cell merged over its rows. A telephone is text or, as people type it, a number
# whose leading zero only the number format shows. None is a blank row between the two regions.
BRANCHES: list[tuple[str, str, str, int, str, str | int, str] | None] = [
    (
        "تهران",
        "تهران",
        "شعبهٔ مرکزی",
        1,
        "خیابان هفت‌کاج، نبش کوچهٔ بلدرچین، پلاک ۱۲، طبقهٔ همکف",
        "021-00001234",
        "شنبه تا چهارشنبه ۸ تا ۱۷، پنجشنبه ۸ تا ۱۳",
    ),
    (
        "",
        "تهران",
        "شعبهٔ غرب",
        2,
        "بزرگراه آبگینه، خروجی سروناز، ساختمان نارون",
        "021-00001235",
        "شنبه تا چهارشنبه ۸ تا ۱۶",
    ),
    (
        "",
        "دماوند",
        "شعبهٔ دماوند",
        7,
        "میدان چشمه‌لادن، جنب کتابخانهٔ آفتاب",
        "۰۲۱-۰۰۰۰۱۲۳۶",
        "شنبه تا چهارشنبه ۸:۳۰ تا ۱۵",
    ),
    (
        "اصفهان",
        "اصفهان",
        "شعبهٔ اصفهان",
        11,
        "خیابان زنبق‌زار، کوچهٔ شمارهٔ ۹، پلاک ۴۵، روبه‌روی باغ نسترن",
        3100001237,
        "شنبه تا چهارشنبه ۷:۳۰ تا ۱۵:۳۰",
    ),
    (
        "",
        "کاشان",
        "شعبهٔ کاشان",
        12,
        "بلوار گلاب‌دره، نرسیده به پل آجری، پلاک ۸",
        3100001238,
        "شنبه تا چهارشنبه ۷:۳۰ تا ۱۴",
    ),
    (
        "خراسان رضوی",
        "مشهد",
        "شعبهٔ مشهد",
        21,
        "بلوار سپیداران، بین سپیداران ۳ و ۵، پلاک ۷۷",
        5100001239,
        "همه‌روزه جز جمعه ۸ تا ۱۶",
    ),
    (
        "",
        "نیشابور",
        "شعبهٔ نیشابور",
        22,
        "خیابان فیروزه‌کوب، مجتمع ترمه، واحد ۲۱",
        "۰۵۱-۰۰۰۰۱۲۴۰",
        "شنبه تا چهارشنبه ۸ تا ۱۴",
    ),
    None,
    (
        "فارس",
        "شیراز",
        "شعبهٔ شیراز",
        31,
        "خیابان نارنجستان نو، کوچهٔ ۱۴، ساختمان بهارنارنج",
        "071-00001241",
        "شنبه تا پنجشنبه ۸ تا ۱۵",
    ),
    (
        "خوزستان",
        "اهواز",
        "شعبهٔ اهواز",
        41,
        "کیان‌شهر، خیابان نخل هفتم، پلاک ۳",
        "۰۶۱-۰۰۰۰۱۲۴۲",
        "شنبه تا چهارشنبه ۷ تا ۱۳",
    ),
    (
        "",
        "آبادان",
        "شعبهٔ آبادان",
        42,
        "خیابان لنج‌داران، روبه‌روی بازارچهٔ صدف",
        "061-00001243",
        "شنبه تا چهارشنبه ۷ تا ۱۳",
    ),
    (
        "بوشهر",
        "بوشهر",
        "نمایندگی بوشهر",
        51,
        "میدان مرجان، ابتدای خیابان نی‌انبان",
        "077-00001244",
        "با تعیین وقت تلفنی",
    ),
]

RATE_TITLE = "تعرفهٔ فروش از ۱ آذر ۱۴۰۵"
RATE_HEADER = ("رشته", "حق بیمهٔ سالانه (تومان)", "سقف تعهد (تومان)", "تخفیف پرداخت نقدی", "آخرین بازنگری")
RATES: list[tuple[str, int, int, float, datetime.date]] = [
    ("آتش‌سوزی آپارتمان تا ۱۰۰ متر", 1850000, 3000000000, 0.1, datetime.date(2026, 11, 1)),
    ("آتش‌سوزی خانهٔ ویلایی", 3200000, 5000000000, 0.1, datetime.date(2026, 11, 1)),
    ("حوادث انفرادی خانواده", 960000, 400000000, 0.05, datetime.date(2026, 9, 15)),
    ("مسئولیت پزشک عمومی", 2750000, 1800000000, 0.075, datetime.date(2026, 9, 15)),
    ("تجهیزات الکترونیک خانگی", 640000, 150000000, 0.15, datetime.date(2026, 10, 20)),
]


def branches() -> bytes:
    """A merged title, a blank row, the header, merged provinces, a blank row, and a second sheet left over."""
    book = _book()
    sheet: Any = book.active
    sheet.title = "شعب"
    sheet.sheet_view.rightToLeft = True
    sheet.append([BRANCH_TITLE])
    sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=len(BRANCH_HEADER))
    sheet["A1"].font = Font(bold=True, size=14)
    sheet["A1"].alignment = Alignment(horizontal="center")
    sheet.append([])
    _header(sheet, 3, BRANCH_HEADER)
    first = 0
    for row, branch in enumerate(BRANCHES, start=4):
        if branch is None:
            continue
        for column, value in enumerate(branch, start=1):
            if value != "":
                sheet.cell(row, column, value)
        sheet.cell(row, 4).number_format = "0000"
        sheet.cell(row, 6).number_format = "00000000000"
        first = row if branch[0] else first
        following = BRANCHES[row - 3] if row - 3 < len(BRANCHES) else None
        if row > first and (following is None or following[0]):
            sheet.merge_cells(start_row=first, start_column=1, end_row=row, end_column=1)
            sheet.cell(first, 1).alignment = Alignment(vertical="center")
    for letter, width in zip("ABCDEFG", (16, 12, 18, 10, 60, 18, 40), strict=True):
        sheet.column_dimensions[letter].width = width
    book.create_sheet("برگه۲")["C5"] = "پیش‌نویس"
    return packed(book.save)


def rates() -> bytes:
    """Thousands separators, percentages and dates that exist in the number formats alone."""
    book = _book()
    sheet: Any = book.active
    sheet.title = "تعرفه"
    sheet.sheet_view.rightToLeft = True
    sheet.append([RATE_TITLE])
    sheet.merge_cells(start_row=1, start_column=1, end_row=1, end_column=len(RATE_HEADER))
    _header(sheet, 2, RATE_HEADER)
    for rate in RATES:
        sheet.append(rate)
    for row in sheet.iter_rows(min_row=3):
        row[1].number_format = row[2].number_format = "#,##0"
        row[3].number_format = "0.0%" if row[3].value == 0.075 else "0%"
        row[4].number_format = "yyyy/mm/dd"
    return packed(book.save)


def _book() -> Workbook:
    book = Workbook()
    book.properties.creator = "ragpress"
    return book


def _header(sheet: Any, row: int, names: tuple[str, ...]) -> None:
    for column, name in enumerate(names, start=1):
        cell = sheet.cell(row, column, name)
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="DDE7F0")
