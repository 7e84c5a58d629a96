"""Word files of the insurer that are page layout: a form in one table cell, and a manual with pictures."""

from __future__ import annotations

import io
import struct
import zlib

from docx.shared import Cm
from docx.table import _Cell

from samples_common import packed, persian, persian_cell, persian_table, word_file

ACCIDENT_KINDS = [
    ("نوع حادثه", "مهلت اعلام", "مدرک ویژه"),
    ("شکستگی و ضرب‌دیدگی", "۵ روز کاری", "عکس رادیولوژی"),
    ("سوختگی", "۵ روز کاری", "گزارش اورژانس"),
    ("مسمومیت", "۳ روز کاری", "برگ آزمایش"),
    ("فوت", "۳۰ روز", "گواهی فوت و گزارش پزشکی قانونی"),
]
FORM_BEFORE = [
    ("Normal", "راهنمای پر کردن فرم اعلام حادثه"),
    (
        "Normal",
        "این فرم را بیمه‌شده یا یکی از بستگان درجهٔ یک او پر می‌کند. نوشتن با خودکار آبی و بدون خط‌خوردگی باشد؛ "
        "هر خط‌خوردگی باید امضا شود.",
    ),
    ("Normal", "پیش از نوشتن، این چهار مورد را آماده کنید:"),
    ("List Number", "شمارهٔ بیمه‌نامهٔ حوادث که روی کارت عضویت چاپ شده است؛"),
    ("List Number", "تاریخ، ساعت و نشانی دقیق محل حادثه؛"),
    ("List Number", "نام و شمارهٔ تلفن یک شاهد؛"),
    ("List Number", "نام بیمارستان یا درمانگاه و پزشک معالج."),
    (
        "Normal",
        "شرح حادثه را به ترتیب زمان بنویسید: پیش از حادثه چه می‌کردید، چه رخ داد و نخستین کمک را چه کسی رساند. "
        "از نوشتن حدس دربارهٔ مقصر خودداری کنید. اگر حادثه هنگام کار بوده است، مهر کارفرما لازم است.",
    ),
    ("Normal", "مهلت اعلام و مدرک ویژهٔ هر حادثه در جدول زیر آمده است."),
]
FORM_AFTER = [
    (
        "Normal",
        "فرم پرشده را به نزدیک‌ترین شعبه بدهید یا تصویر خوانای آن را در برنامک بارگذاری کنید. رسید شماره‌دار بگیرید و "
        "تا پایان رسیدگی نگه دارید. ارزیابی پزشک معتمد حداکثر ده روز کاری زمان می‌برد.",
    ),
    ("Normal", "فرم بدون امضا و تاریخ بررسی نمی‌شود."),
]

MANUAL = [
    "راهنمای کوتاه برنامک هفت‌کاج",
    "برنامک را از وب‌گاه haftkaj.example دریافت و نصب کنید. برای ورود، شمارهٔ همراه و کد ملی صاحب بیمه‌نامه لازم است؛ "
    "رمز یک‌بارمصرف دو دقیقه اعتبار دارد. در گوشی‌های قدیمی‌تر از اندروید ۹ تنها نسخهٔ وب کار می‌کند.",
    "صفحهٔ اصلی: دکمهٔ گرد پایین صفحه با نشان «+» پروندهٔ خسارت تازه می‌سازد. "
    "سه خط گوشهٔ بالا فهرست بیمه‌نامه‌ها را باز می‌کند.",
    "عکس‌برداری از خسارت: دست‌کم چهار عکس از چهار گوشهٔ خودرو و یک عکس از نزدیک بگیرید. برنامک مکان و ساعت را خودش "
    "ثبت می‌کند؛ عکس‌های ویرایش‌شده پذیرفته نمی‌شود. اینترنت لازم نیست، ارسال پس از وصل شدن انجام می‌شود.",
    "نمودار زیر میانگین زمان هر مرحله از رسیدگی را به روز نشان می‌دهد. اگر پروندهٔ شما در یک مرحله بیش از "
    "دو برابر این زمان مانده است، دکمهٔ «پیگیری» فعال می‌شود و کارشناس تا یک روز کاری پاسخ می‌دهد.",
    "امضای دیجیتال: پیش از واریز، مبلغ پیشنهادی را در برنامک می‌بینید. با کشیدن انگشت روی صفحه آن را امضا کنید "
    "یا با دکمهٔ «نمی‌پذیرم» پرونده را به بازنگری بفرستید.",
]

FONT = {
    "1": ("00100", "01100", "00100", "00100", "00100", "00100", "01110"),
    "2": ("01110", "10001", "00001", "00110", "01000", "10000", "11111"),
    "3": ("11110", "00001", "00001", "01110", "00001", "00001", "11110"),
    "4": ("00010", "00110", "01010", "10010", "11111", "00010", "00010"),
    "5": ("11111", "10000", "11110", "00001", "00001", "10001", "01110"),
    "7": ("11111", "00001", "00010", "00100", "01000", "01000", "01000"),
    "+": ("00000", "00100", "00100", "11111", "00100", "00100", "00000"),
    "=": ("00000", "00000", "11111", "00000", "11111", "00000", "11111"),
}
Canvas = list[bytearray]


def form() -> bytes:
    """One cell holds the whole document, with a table nested in it; above it stands a cell with the sender."""
    document = word_file("")
    table = document.add_table(2, 1)
    table.style = "Table Grid"
    persian_cell(table.cell(0, 0), "بیمهٔ هفت‌کاج — ادارهٔ بیمه‌های حوادث")
    cell: _Cell = table.cell(1, 0)
    first, *others = FORM_BEFORE
    persian_cell(cell, first[1])
    for style, text in others:
        persian(cell, text, style)
    persian_table(cell, ACCIDENT_KINDS)
    for style, text in FORM_AFTER:
        persian(cell, text, style)
    return packed(document.save)


def manual() -> bytes:
    """Three pictures without alternative text, one of them inside a paragraph with words."""
    document = word_file("")
    title, login, home, photos, times, signature = MANUAL
    for text in (title, login):
        persian(document, text)
    persian(document, home).add_run().add_picture(io.BytesIO(png(home_screen())), width=Cm(4))
    persian(document, photos)
    document.add_paragraph().add_run().add_picture(io.BytesIO(png(corners())), width=Cm(6))
    persian(document, times)
    document.add_paragraph().add_run().add_picture(io.BytesIO(png(bar_chart([1, 3, 5, 2]))), width=Cm(8))
    persian(document, signature)
    return packed(document.save)


def blank(width: int, height: int) -> Canvas:
    """A white canvas: rows of one byte a pixel, 1 = white."""
    return [bytearray(b"\x01" * width) for _ in range(height)]


def box(canvas: Canvas, left: int, top: int, width: int, height: int, ink: int = 0) -> None:
    """Fills a rectangle."""
    for row in canvas[top : top + height]:
        row[left : left + width] = bytes([ink]) * width


def frame(canvas: Canvas, left: int, top: int, width: int, height: int) -> None:
    """Draws a rectangle's outline, three pixels thick."""
    box(canvas, left, top, width, height)
    box(canvas, left + 3, top + 3, width - 6, height - 6, ink=1)


def sign(canvas: Canvas, left: int, top: int, name: str, size: int) -> None:
    """Draws one character of FONT, `size` pixels a dot."""
    for y, line in enumerate(FONT[name]):
        for x, dot in enumerate(line):
            if dot == "1":
                box(canvas, left + x * size, top + y * size, size, size)


def bar_chart(days: list[int]) -> Canvas:
    """A bar a step, with its number of days above it and the step's number below."""
    canvas = blank(320, 240)
    box(canvas, 16, 200, 292, 3)
    for place, count in enumerate(days):
        left = 40 + place * 68
        box(canvas, left, 200 - count * 28, 40, count * 28)
        sign(canvas, left + 12, 200 - count * 28 - 26, str(count), 3)
        sign(canvas, left + 12, 210, str(place + 1), 3)
    return canvas


def home_screen() -> Canvas:
    """A telephone with a menu sign at the top and a plus at the bottom."""
    canvas = blank(160, 260)
    frame(canvas, 10, 6, 140, 248)
    sign(canvas, 122, 14, "=", 3)
    for place in range(3):
        frame(canvas, 26, 56 + place * 44, 108, 32)
    frame(canvas, 60, 198, 40, 40)
    sign(canvas, 70, 204, "+", 4)
    return canvas


def corners() -> Canvas:
    """A car from above with its four corners numbered."""
    canvas = blank(280, 160)
    frame(canvas, 70, 40, 140, 80)
    frame(canvas, 110, 50, 50, 60)
    for name, left, top in (("1", 40, 16), ("2", 222, 16), ("3", 222, 118), ("4", 40, 118)):
        sign(canvas, left, top, name, 4)
    return canvas


def png(canvas: Canvas) -> bytes:
    """A grey PNG of the canvas. Not compressed, so that the bytes do not hang on the zlib at hand."""
    height, width = len(canvas), len(canvas[0])
    lines = b"".join(b"\x00" + bytes(255 * pixel for pixel in row) for row in canvas)

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(lines, 0)) + part(b"IEND", b"")
