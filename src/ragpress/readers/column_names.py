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
авто аванс аудитория бик блюдо бюджет валовая версии ветка вместимость возраст выдан выплата выработка выручка
гарантия глубина гражданство грузополучатель давление дебет дивизион диаметр длительность дозировка дистанция долг
доставка ёмкость емкость жанр жильё задолженность законодательство занятость запас зарплата заявитель знак
игрок издательство изготовитель изменение импортёр индикатор ингредиент ингредиенты инициатор инн инструктор
исполнение испытание источники калории категории квота кличка команда комментатор комплектация континент корпус
кпп кредит куратор лечение лимит линия литраж льгота маржа масса материалы мероприятия метод мощность назначение
надбавка накладная нагрузка наличие направление напряжение наценка начисление национальность население норматив
оборот обороты образец огрн окпо оклад операция описания опыт отклонение отправитель отправление оценки очки
параметры пассажиры переплёт переработка перечень периодичность печать плательщик плотность площадь подача
подпись показания показатели поломка получатель порода порция порядковый последствие последствия
потребление правило предложение прибыль прибытие приход причина причины программа проект происхождение пропуск
противопоказания протокол профессия процент проценты разновидность расчёт режиссёр режиссер реквизиты рекомендации
рейтинг рецепт решение риск роды рост рынок сальдо себестоимость симптом симптомы скорость событие событие состав
способ спецификация среднее ставки столица страницы стандарт сырьё табельный таблица температура терминал тираж
толщина торг транспорт тренер убыток удержано урожайность условие условия участник участники фаза формат хозяин
хранение частота часов штраф экипаж эффект
сотрудник сотрудники работник работники лицо контактное номенклатура партнёр подпись расписание сезон
кухня населённый населенный
кто кого кому куда когда сколько
"""
_PERSIAN = """
آدرس استاد استان امتیاز انبار اندازه اولویت ایمیل بخش برند بها بیمار تاریخ تحصیلات تخصص تخفیف تصویر تعداد تلفن
توضیح توضیحات جمع جنسیت جواب حساب خدمات خدمت دارو دانشجو درس درصد دسته دسته‌بندی دلیل دکتر رده ردیف رشته رنگ
روز زبان زمان سؤال سازمان ساعات ساعت سال سایت سطح سمت سن سند سوال سوالات شرح شرکت شعبه شماره شهر شهرستان علت
عنوان فاکتور فایل فروشنده قرارداد قیمت لینک مؤسسه مالیات مانده ماه مبلغ مجموع محصول محل مدرک مدل مدیر مرحله
مسؤول مسئول مسیر مشتری مشخصات مقدار ملاحظات منبع منطقه مهلت موبایل موجودی موسسه موضوع ناحیه نام نتیجه نرخ نشان
نشانی نمره نوع نویسنده هزینه همراه واحد وبسایت وب‌سایت وزن وضعیت پاسخ پاسخگو پرسش پزشک پست کاربر کالا کد کدملی
کشور گروه
آخرین آزمون ابعاد ارتفاع ارزش اسم اعتبار افراد اقدام انتشارات ایستگاه بازه بدهکار بستانکار بودجه بیماری پایان پایه
پروژه تاریخچه تامین تأمین تحویل ترکیبات تیراژ تیم ثبت جرم جمعیت جنس چاپ حجم حداقل حداکثر حرفه حقوق حوزه خروج
خوراک دامنه درآمد درجه دما دوره راه روش زیان ژانر سرعت سقف سود سوابق شاخص شغل شهرت شیوه صاحب ضخامت طرح طول
ظرفیت عرض علائم علامت عملکرد عمق غذا فراوانی فرکانس فشار فصل فعالیت قد قطر قوانین گارانتی گرایش گردش ماده مالک مالکیت
مبدا مبدأ متراژ متصدی مجری محدوده محتوا مساحت مصرف معدل مقصد مکان ملیت منبع مواد مورد میانگین ناشر نحوه نژاد
نسبت نسخه نشریه نیاز هدف ورود ویژگی یادداشت چگونه کجا
"""
_ENGLISH = """
# address age amount answer author balance barcode begin branch brand category city class client code color
colour comment comments company contact cost count country currency customer date day department desc
description details e-mail email end example fax file first format full gender group id item key kod label
language last level link mail manager method middle mobile model month name names no note notes nr num number
owner path phone position price priority product qty quantity question rank rate reason ref reference region
remarks result role score section service size sku source start state status subject sum summary tag task team
tel time timestamp title total type unit units url user value values version weight year zip №
activity actual albumartist altitude area artist available bank basis birthday birthplace breed budget capacity capital
cause characteristic characteristics clients commodity component continent coverage credit currencies data deadline
debit definition density deposit destination diameter dimension dimensions director discount distance district division
dose duration employee employees employer episode event expenses expiry feature fee frequency function genre
geography grade height hours incident indicator industry ingredient instructor isbn issue issued item items job
latitude length license longitude manufacturer material measure medium metric minimum maximum name nationality
nickname objective occupation operator origin outcome parameter participant participants patient percent percentage
period player population position power profession profit program project provider province publisher purpose rainfall
position positions street town remarks staff season customers suppliers
website warranty guarantee room registration opening origin
range rate rating ratio reading records release remark requirement responsible revenue risk room round sample schedule
sector sex shift significance skill skills species speed sport stage statistic strength subcategory submitted supplier
surname symptom symptoms taxa teacher temperature term test thickness topic transaction treatment uid username variable
variety vendor venue volume wage weekday width who where when how what
"""

_GENERIC = """
параметр показатель характеристика свойство поле наименование название реквизит
parameter property field feature specification attribute characteristic item name key
ویژگی مشخصه شرح پارامتر عنوان
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

GENERIC = frozenset(_GENERIC.split())
"""Names of a column of names."""

DATE_NAMES = frozenset(["date", "period", "дата", "период", "تاریخ", "دوره"])
"""Names of the time that a whole table is of, where they stand above it with one value."""

UNITS = frozenset(
    [
        "درصد",
        "ریال",
        "تومان",
        "عدد",
        "نفر",
        "کیلو",
        "کیلوگرم",
        "گرم",
        "متر",
        "تن",
        "لیتر",
        "هزار",
        "میلیون",
        "میلیارد",
        "ساعت",
        "روز",
        "دلار",
        "دستگاه",
        "جلد",
        "هکتار",
    ]
)
"""Persian units of measure: in a script without small letters nothing else tells them from names."""

NAMES = frozenset(" ".join((_RUSSIAN, _PERSIAN, _ENGLISH)).split())
"""In lower case, Persian letters. Evidence for a header where all cells are text: weaker than a difference in kind."""
