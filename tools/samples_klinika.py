"""Files of the clinic: the laboratory table, the house rules with tracked changes, and the price export."""

from __future__ import annotations

import csv
import io
from typing import Any

from docx.document import Document
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph

from samples_common import packed, word_file

LABORATORY_HEADER = ("Код", "Исследование", "Материал", "Срок готовности", "Цена, ₽")
LABORATORY = """
Л01|Общий анализ крови с лейкоцитарной формулой|кровь из вены|1 рабочий день|620
Л02|Скорость оседания эритроцитов|кровь из вены|1 рабочий день|240
Л03|Ретикулоциты|кровь из вены|1 рабочий день|310
Л04|Группа крови и резус-фактор|кровь из вены|1 рабочий день|580
Л05|Глюкоза|кровь из вены|1 рабочий день|260
Л06|Гликированный гемоглобин|кровь из вены|2 рабочих дня|690
Л07|Общий холестерин|кровь из вены|1 рабочий день|270
Л08|Липидный профиль, шесть показателей|кровь из вены|1 рабочий день|980
Л09|Креатинин с расчётом фильтрации почек|кровь из вены|1 рабочий день|290
Л10|Мочевина|кровь из вены|1 рабочий день|260
Л11|Билирубин общий и прямой|кровь из вены|1 рабочий день|410
Л12|Печёночные пробы: АЛТ и АСТ|кровь из вены|1 рабочий день|450
Л13|Железо сыворотки|кровь из вены|1 рабочий день|320
Л14|Ферритин|кровь из вены|2 рабочих дня|740
Л15|Витамин D|кровь из вены|4 рабочих дня|2 100
Л16|Витамин B12|кровь из вены|3 рабочих дня|860
Л17|Тиреотропный гормон (ТТГ)|кровь из вены|1 рабочий день|540
Л18|Тироксин свободный (Т4)|кровь из вены|1 рабочий день|560
Л19|Антитела к тиреопероксидазе|кровь из вены|2 рабочих дня|690
Л20|Пролактин|кровь из вены|2 рабочих дня|640
Л21|С-реактивный белок|кровь из вены|1 рабочий день|520
Л22|Ревматоидный фактор|кровь из вены|2 рабочих дня|590
Л23|Коагулограмма|кровь из вены|1 рабочий день|1 050
Л24|D-димер|кровь из вены|1 рабочий день|1 480
Л25|Иммуноглобулин E общий|кровь из вены|3 рабочих дня|780
Л26|Панель пищевых аллергенов, двадцать веществ|кровь из вены|5 рабочих дней|5 900
Л27|Общий анализ мочи|утренняя моча|1 рабочий день|380
Л28|Проба Нечипоренко|средняя порция утренней мочи|1 рабочий день|360
Л29|Микроальбумин|суточная моча|2 рабочих дня|610
Л30|Посев мочи на флору|средняя порция утренней мочи|до 7 дней|1 300
Л31|Копрограмма|кал|2 рабочих дня|590
Л32|Скрытая кровь, иммунный метод|кал|2 рабочих дня|720
Л33|Мазок из зева на стрептококк, быстрый тест|мазок|20 минут|850
Л34|Посев из носа на флору|мазок|до 7 дней|1 250
"""

# Text; {-…-} is deleted and {+…+} inserted under change tracking, {=…=} a content control, {*} the footnote's place.
RULES: list[tuple[str, list[str]]] = [
    (
        "Общие положения",
        [
            "Правила обязательны для пациентов, сопровождающих и посетителей клиники «Синяя сойка». "
            "Они утверждены {=приказом № 17 от 3 сентября 2026 года=} и висят у стойки регистратуры.",
            "Клиника вправе отказать в приёме человеку в состоянии опьянения, кроме случаев, когда ему нужна "
            "неотложная помощь.",
        ],
    ),
    (
        "Права пациента",
        [
            "Пациент выбирает врача, получает понятное объяснение диагноза и плана лечения и может отказаться "
            "от любого вмешательства, подписав отказ.",
            "Пациент вправе получить второе мнение: другой врач клиники посмотрит документы {-за половину цены-}"
            "{+бесплатно+} в течение недели.",
        ],
    ),
    (
        "Обязанности пациента",
        [
            "Приходить вовремя, а об отмене предупреждать не позднее чем за {-сутки-}{+четыре часа+} до приёма.",
            "Сообщать врачу обо всех принимаемых лекарствах, аллергии и перенесённых операциях.",
            "Не есть в коридорах и не шуметь: рядом идут обследования.",
        ],
    ),
    (
        "Посещение дневного стационара",
        [
            "Навещать пациента можно с {-16:00-}{+15:00+} до 17:30, не больше одного посетителя у кресла.",
            "Родитель может оставаться с ребёнком до пятнадцати лет всё время.{*}",
        ],
    ),
    (
        "Съёмка и запись",
        [
            "Снимать фото и видео в коридорах и кабинетах нельзя: в кадр попадают другие пациенты. Для съёмки, которая "
            "нужна по работе, разрешение даёт главный врач.",
        ],
    ),
    (
        "Забытые вещи",
        [
            "Найденные вещи хранятся в гардеробе тридцать дней, документы — в сейфе регистратуры. Чтобы забрать вещь, "
            "опишите её и назовите день, когда были в клинике.",
        ],
    ),
]
RULES_NOTE = "Родитель переобувается и надевает одноразовый халат; халат выдаёт медсестра."

PRICES_HEADER = ("Код", "Услуга", "Единица", "Цена, руб.", "Примечание")
PRICES = [
    ("У01", "УЗИ органов брюшной полости", "исследование", "2150,00", "натощак; заключение сразу"),
    ("У02", "УЗИ щитовидной железы", "исследование", "1680,00", ""),
    ("У03", "УЗИ сердца (эхокардиография)", "исследование", "2890,00", "возьмите прошлые записи"),
    ("У04", "УЗИ вен обеих ног", "исследование", "2740,50", ""),
    ("У05", "УЗИ тазобедренных суставов, дети до года", "исследование", "1590,00", "возьмите две пелёнки"),
    ("Ф01", "Электрокардиограмма с расшифровкой", "исследование", "790,00", ""),
    ("Ф02", "Суточное мониторирование ЭКГ", "сутки", "3320,00", "снимать прибор придёте\nна следующий день до 10:00"),
    ("Ф03", "Суточное мониторирование давления", "сутки", "2980,00", ""),
    ("П01", "Укол внутримышечный", "процедура", "230,00", "лекарство своё"),
    ("П02", "Капельница до 200 мл", "процедура", "870,50", "лекарство отдельно"),
    ("П03", "Перевязка малая", "процедура", "640,00", ""),
    ("П04", "Удаление серной пробки", "одно ухо", "950,00", ""),
    (
        "П05",
        "Промывание носа методом перемещения",
        "процедура",
        "720,00",
        "при насморке с отёком\nтолько после осмотра ЛОР-врача",
    ),
    ("П06", "Прижигание вросшего ногтя", "палец", "4100,00", "включая обезболивание"),
    ("П07", "Наложение гипсовой повязки на предплечье", "процедура", "2350,00", ""),
    ("В01", "Прививка от гриппа", "доза", "1450,00", "вакцина и осмотр входят в цену"),
    ("В02", "Прививка от клещевого энцефалита, взрослая доза", "доза", "1990,00", "вторая доза через месяц"),
    ("Ф10", "Массаж шейно-воротниковой зоны", "15 минут", "1120,00", ""),
    ("Ф11", "Массаж детский общий", "40 минут", "1760,00", "от 3 месяцев до 3 лет"),
    ("Ф12", "Лечебная физкультура в группе до 6 человек", "занятие", "680,00", "абонемент на 10 занятий — 5980,00"),
]

NUMBERING = f"""
<w:abstractNum {nsdecls("w")} w:abstractNumId="90"><w:multiLevelType w:val="multilevel"/>
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2."/></w:lvl>
</w:abstractNum>"""
FOOTNOTES = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:footnotes {nsdecls("w")}>
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>
<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>
<w:footnote w:id="1"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> {RULES_NOTE}</w:t></w:r></w:p>
</w:footnote></w:footnotes>"""


def laboratory() -> bytes:
    """A single table of 35 rows and 5 columns; the file has no paragraph with text."""
    document = word_file("")
    rows = [LABORATORY_HEADER, *(tuple(line.split("|")) for line in LABORATORY.strip().splitlines())]
    table = document.add_table(len(rows), len(LABORATORY_HEADER))
    table.style = "Table Grid"
    for row, values in zip(table.rows, rows, strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    return packed(document.save)


def rules() -> bytes:
    """Numbered headings and clauses, tracked changes, a content control and a footnote."""
    document = word_file("Правила посещения клиники «Синяя сойка»")
    numbering: Any = document.part.numbering_part.element
    numbering.insert(0, parse_xml(NUMBERING))
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="90"><w:abstractNumId w:val="90"/></w:num>'))
    name = PackURI("/word/footnotes.xml")
    notes = Part(name, CONTENT_TYPE.WML_FOOTNOTES, FOOTNOTES.encode(), document.part.package)
    document.part.relate_to(notes, RELATIONSHIP_TYPE.FOOTNOTES)
    for heading, clauses in RULES:
        _numbered(document.add_paragraph(heading, "Heading 1"), 0)
        for clause in clauses:
            _clause(document, clause)
    return packed(document.save)


def _numbered(paragraph: Paragraph, level: int) -> None:
    properties: Any = paragraph.paragraph_format.element.get_or_add_pPr()
    numbered = properties.get_or_add_numPr()
    numbered.get_or_add_ilvl().val = level
    numbered.get_or_add_numId().val = 90


def _clause(document: Document, text: str) -> None:
    paragraph = document.add_paragraph()
    _numbered(paragraph, 1)
    element: Any = paragraph._p
    by = 'w:id="{}" w:author="Редактор" w:date="2026-09-03T09:00:00Z"'
    forms = {
        "-": f"<w:del {nsdecls('w')} {by}><w:r><w:delText>{{}}</w:delText></w:r></w:del>",
        "+": f"<w:ins {nsdecls('w')} {by}><w:r><w:t>{{}}</w:t></w:r></w:ins>",
        "=": f"<w:sdt {nsdecls('w')}><w:sdtPr><w:text/></w:sdtPr>"
        "<w:sdtContent><w:r><w:t>{1}</w:t></w:r></w:sdtContent></w:sdt>",
        "*": f'<w:r {nsdecls("w")}><w:footnoteReference w:id="1"/></w:r>',
    }
    number = 10 * len(document.paragraphs)  # ids of changes are unique in a document
    for piece in text.replace("}", "{").split("{"):
        mark = piece[:1]
        if mark in forms and piece[-1:] == mark:
            element.append(parse_xml(forms[mark].format(number + len(element), piece[1:-1])))
        elif piece:
            paragraph.add_run(piece)


def prices() -> bytes:
    """What a Russian office suite exports: cp1251, semicolons, decimal commas, line breaks inside quotes."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\r\n")
    writer.writerows([PRICES_HEADER, *PRICES])
    return text.getvalue().encode("cp1251")
