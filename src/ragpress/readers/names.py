"""Words that head columns in Russian, Persian and English files."""

from __future__ import annotations

_RUSSIAN = """
автор адрес адреса акт анализ арт артикул баланс бренд бригада валюта версия вес вид владелец возраст вопрос
вопросы врач врачи время всего высота год город города график группа дата даты день диагноз дисциплина длина
дни договор доза доктор документ должность доля доход ед единица заголовок задание задача заказчик значение ид
имена имя инв индекс исполнитель источник итого каб кабинет категория кафедра квалификация класс клиент ключ
код кол кол-во количество комментарии комментарий компания контакт контакты контрагент критерий курс марка
маршрут материал менеджер мера мероприятие место месяц метка модель название наименование наименования налог
ндс номер номера норма область образование объект объем объём округ описание организация основание остановка
остаток ответ ответственный ответы отдел отчество оценка п/п параметр партия пациент период план подраздел
подразделение позиция показатель пол пользователь поставщик почта прайс предмет предприятие препарат
преподаватель примечание примечания продукт производитель процедура процент раздел размер район расход регион
режим результат рейс роль руководитель сайт свойство серия скидка склад смена содержание состояние
специализация специальность срок сроки ссылка ставка стаж станция статус статья стоимость страна студент сумма
счет счёт тариф теги тел телефон телефоны тема тип товар товары улица услуга услуги участок ученик учреждение
файл факс факт факультет фамилия филиал фио фирма формула характеристика цена цены цех часы ширина шифр этаж
этап язык
"""
_PERSIAN = """
آدرس استاد استان امتیاز انبار اندازه اولویت ایمیل بخش برند بها بیمار تاریخ تحصیلات تخصص تخفیف تصویر تعداد تلفن
توضیح توضیحات جمع جنسیت جواب حساب خدمات خدمت دارو دانشجو درس درصد دسته دسته‌بندی دلیل دکتر رده ردیف رشته رنگ
روز زبان زمان سؤال سازمان ساعات ساعت سال سایت سطح سمت سن سند سوال سوالات شرح شرکت شعبه شماره شهر شهرستان علت
عنوان فاکتور فایل فروشنده قرارداد قیمت لینک مؤسسه مالیات مانده ماه مبلغ مجموع محصول محل مدرک مدل مدیر مرحله
مسؤول مسئول مسیر مشتری مشخصات مقدار ملاحظات منبع منطقه مهلت موبایل موجودی موسسه موضوع ناحیه نام نتیجه نرخ نشان
نشانی نمره نوع نویسنده هزینه همراه واحد وبسایت وب‌سایت وزن وضعیت پاسخ پاسخگو پرسش پزشک پست کاربر کالا کد کدملی
کشور گروه
"""
_ENGLISH = """
# address age amount answer author balance barcode begin branch brand category city class client code color
colour comment comments company contact cost count country currency customer date day department desc
description details e-mail email end example fax file first format full gender group id item key kod label
language last level link mail manager method middle mobile model month name names no note notes nr num number
owner path phone position price priority product qty quantity question rank rate reason ref reference region
remarks result role score section service size sku source start state status subject sum summary tag task team
tel time timestamp title total type unit units url user value values version weight year zip №
"""

_TIMES = """
понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
янв фев февр мар апр июн июл авг сен сент окт ноя нояб дек
شنبه یکشنبه دوشنبه سه‌شنبه چهارشنبه پنجشنبه پنج‌شنبه جمعه
فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
january february march april june july august september october november december
jan feb mar apr may jun jul aug sep sept oct nov dec
"""

TIMES = frozenset(_TIMES.replace("\u200c", "").split())
"""Days of the week and months, in full and shortened, without joiners."""

NAMES = frozenset(" ".join((_RUSSIAN, _PERSIAN, _ENGLISH)).split())
"""In lower case, Persian letters. Evidence for a header where all cells are text: weaker than a difference in kind."""
