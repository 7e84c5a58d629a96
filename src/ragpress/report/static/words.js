// Words and word scores as `ragpress.lexical` has them; the tests compare both. Needs nothing but the language itself.
"use strict";

// -- folding: what `ragpress.text.fold` does, for searching ----------------------------------------------------------

const folding = (() => {
  const TATWEEL = "\u0640", ZWNJ = "\u200c", PHRASES = "\ufdfa\ufdfb\ufdfc";
  const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const UNREAD = "\\u200e\\u200f\\u061c\\u202a-\\u202e\\u2066-\\u2069\\ufeff\\xad";
  const VARIANTS = {
    "ی": "يىئےۓې", "ک": "كڪ", "ه": "ةۀہۂھەۃ", "ا": "آأإٱ", "و": "ؤ", "е": "ё",
  };

  const forms = new Map();
  for (const [first, last] of [[0xfb50, 0xfdff], [0xfe70, 0xfefe]]) {
    for (let number = first; number <= last; number++) {
      const form = String.fromCharCode(number), letters = form.normalize("NFKC");
      if (letters !== form) forms.set(form, letters.replace(/^ +| +$/g, "").replaceAll(TATWEEL, ""));
    }
  }
  const folded = new Map();
  for (const [letter, variants] of Object.entries(VARIANTS)) {
    for (const variant of variants) folded.set(variant, letter);
  }
  for (const zero of [0x660, 0x6f0]) {
    for (let digit = 0; digit < 10; digit++) folded.set(String.fromCharCode(zero + digit), String(digit));
  }
  const FOREIGN = new RegExp(
    `(?<![^${SPACE}])${TATWEEL}+(?![^${SPACE}])|[${TATWEEL}${UNREAD}${[...forms.keys()].join("")}]`, "gu");
  const BEFORE = `${SPACE}.,:;!?…،؛؟«“‘(\\[{/|–—\\-`, BEHIND = `${SPACE}.,:;!?…،؛؟»”’)\\]}/|–—\\-"'`;
  const STRAY = new RegExp(`(?:^|(?<=[${BEFORE}]))${ZWNJ}|(?<![\u0900-\u0dff])${ZWNJ}(?=[${BEHIND}]|$)`, "gu");
  const CHANGED = new RegExp(
    `[${[...folded.keys()].join("")}\\u200b-\\u200f\\u061c\\u2060\\ufeff\\xad\\u0640\\u0670\\u202a-\\u202e`
    + "\\u2066-\\u2069\\u064b-\\u065f\\u06d6-\\u06dc\\u06df-\\u06e8]", "gu");

  function replacement(piece, offset, whole) {
    const before = [...whole.slice(Math.max(0, offset - 2), offset)].pop() ?? "";
    const behind = [...whole.slice(offset + piece.length, offset + piece.length + 2)][0] ?? "";
    if (piece[0] === TATWEEL) {
      const touched = new RegExp(`[^${SPACE}]`, "u");
      return touched.test(before) || touched.test(behind) ? "" : "–";
    }
    const letters = forms.get(piece) ?? "";
    if (!PHRASES.includes(piece)) return letters;
    const word = /[\p{L}\p{N}]/u;
    return (word.test(before) ? " " : "") + letters + (word.test(behind) ? " " : "");
  }

  function normalize(text) {
    text = text.replace(FOREIGN, replacement).normalize("NFC").replace(/[\u064a\u0649]/g, "ی").replaceAll("\u0643", "ک");
    return text.includes(ZWNJ) ? text.replace(/\u200c{2,}/g, ZWNJ).replace(STRAY, "") : text;
  }

  // `special` has the letters whose case folding is not their small letter.
  function fold(text, special = {}) {
    if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
    text = normalize(text).normalize("NFKC").replace(/\p{Changes_When_Casefolded}/gu,
      (letter) => special[letter] ?? letter.toLowerCase());
    return text.normalize("NFKC").replace(CHANGED, (letter) => folded.get(letter) ?? "");
  }
  return { fold };
})();

// -- words: what `ragpress.lexical.words` does --------------------------------------------------------------------------

const wording = (() => {
  const LETTERS = 5, NATIONAL = 10, BLANKS = " \u00a0\u2009\u202f", SIGNS = `[${BLANKS}()‐‑–-]`;
  const PIECES = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000!-/:-@\[-`{-~«»“”„…–—،؛؟·•№]+/gu;
  const RUNS = /[\p{L}\p{Nl}\p{No}]+/gu, DIGITS = /\d+/g;
  const STRETCH = new RegExp(`\\p{Nd}[\\p{Nd}${BLANKS},.'’٬()‐‑–-]*`, "gu");
  const NUMBER = new RegExp(
    `(?<grouped>\\d{1,3}(?<mark>[${BLANKS},.'’٬])\\d{3}(?:\\k<mark>\\d{3})*)(?!\\d)(?!${SIGNS}{1,2}\\d)`
    + `|(?<phone>(?:0\\d{1,3}|[78])${SIGNS}{1,3}\\d{3,8}(?:${SIGNS}{1,2}\\d{2,4}){0,3})(?!\\d)`
    + "|(?<local>\\d{2,3}[‐‑–-]\\d\\d[‐‑–-]\\d\\d)(?![‐‑–-]?\\d)|\\d+", "gu");
  const OPENED = new RegExp(`^\\d{1,4}(?:${SIGNS}{1,3}\\d{2,8}){1,4}(?!\\d)`, "u");
  const before = new RegExp(`[+(][${BLANKS}]*$`, "u");

  // The ASCII digit of any script's: its ten stand in a row.
  function digit(sign) {
    let value = 0;
    for (let code = sign.codePointAt(0) - 1; /\p{Nd}/u.test(String.fromCodePoint(code)); code--) value++;
    return String(value % 10);
  }

  function phone(parts) {
    const digits = parts.join("");
    return [digits, ...(parts.length > 1 ? parts : []), ...(digits.length > NATIONAL ? [digits.slice(-NATIONAL)] : [])];
  }

  const isPhone = (parts) => { const length = parts.join("").length; return length >= 10 && length < 16; };

  // The words of a stretch of digits and signs: [words, begin, end] of each number in it.
  function* numbers(text, stretch) {
    const written = stretch[0].replace(/[^\0-\x7f]/gu, (sign) => /\p{Nd}/u.test(sign) ? digit(sign) : sign);
    const place = (at) => stretch.index + (written.length === stretch[0].length ? at : 0);
    const end = (at) => written.length === stretch[0].length ? stretch.index + at : stretch.index + stretch[0].length;
    if ([...written].length < 4) {
      for (const found of written.matchAll(DIGITS)) {
        yield [[found[0]], place(found.index), end(found.index + found[0].length)];
      }
      return;
    }
    let begin = 0;
    if (before.test(text.slice(0, stretch.index))) {
      const opened = written.match(OPENED), parts = opened?.[0].match(DIGITS) ?? [];
      if (parts.length > 1 && isPhone(parts)) {
        yield [phone(parts), place(0), end(opened[0].length)];
        begin = opened[0].length;
      }
    }
    NUMBER.lastIndex = begin;
    for (let found; (found = NUMBER.exec(written));) {
      const parts = found[0].match(DIGITS), { grouped, local } = found.groups;
      yield [grouped ? [parts.join("")] : local || isPhone(parts) ? phone(parts) : parts,
        place(found.index), end(found.index + found[0].length)];
    }
  }

  // What is written as one and gives one word or several: [words, begin, end], places in the text.
  function* tokens(text, fold) {
    for (const piece of text.matchAll(PIECES)) {
      const runs = fold(piece[0]).replace(/[\u0300-\u036f]/g, "").match(RUNS) ?? [];
      const words = runs.map((run) => [...run].slice(0, LETTERS).join(""));
      if (words.length) yield [words, piece.index, piece.index + piece[0].length];
    }
    for (const stretch of text.matchAll(STRETCH)) yield* numbers(text, stretch);
  }

  const words = (text, fold) => [...tokens(text, fold)].flatMap(([found]) => found);

  return { tokens, words };
})();

// -- word scores: what `ragpress.lexical.scoring` does ------------------------------------------------------------------

const scoring = (() => {
  const K1 = 1.2, B = 0.75;

  const idf = (count, having) => Math.log1p((count - having + 0.5) / (having + 0.5));

  // b of each row that has one of the words. `entries(word)` gives [row, count] pairs; `lengths` are the rows' words.
  function scores(words, entries, lengths) {
    const mean = Math.max(lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1), 1);
    const found = new Map();
    let most = 0;
    for (const word of new Set(words)) {
      const having = entries(word), weight = idf(lengths.length, having.length);
      most += weight;
      for (const [row, count] of having) {
        const norm = K1 * (1 - B + B * lengths[row] / mean);
        found.set(row, (found.get(row) ?? 0) + weight * count / (count + norm));
      }
    }
    for (const [row, score] of found) found.set(row, score / most);
    return found;
  }
  return { scores };
})();
