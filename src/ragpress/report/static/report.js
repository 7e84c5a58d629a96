// The report's filters and search. Everything works from disk: no request is ever made.
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

// -- a text in its language and direction, as `bearing` tells them for the pages -------------------------------------------

function bear(element, text) {
  const letters = (text.match(/\p{L}/gu) ?? []).length;
  const most = (script) => 2 * (text.match(script) ?? []).length > letters;
  const right = /(?=\p{L})[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/gu;
  const first = text.match(/\p{L}/u)?.[0];
  element.lang = most(/(?=\p{L})[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]/gu) ? "fa"
    : most(/(?=\p{L})[\u0400-\u052f]/gu) ? "ru" : "";
  const startsRight = first !== undefined && first.search(right) === 0;
  element.textContent = text;
  element.dir = first === undefined || most(right) === startsRight ? "auto" : most(right) ? "rtl" : "ltr";
  return element;
}

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// `work`, once nothing was typed for a moment; at once with `now`.
function later(work, milliseconds) {
  let timer = 0;
  return (now) => { clearTimeout(timer); if (now === true) work(); else timer = setTimeout(work, milliseconds); };
}

// -- filters of what stands on a page ---------------------------------------------------------------------------------

function filter(form) {
  const items = [...document.querySelectorAll({
    chunks: "article.chunk", rows: "#rows > tr", questions: "#question-rows > tr",
  }[form.dataset.filters])];
  const count = form.querySelector("[data-count]");
  const texts = form.elements.text ? items.map((item) => folding.fold(item.querySelector("th").textContent)) : [];

  function apply() {
    const data = new FormData(form), boxes = form.querySelectorAll("input[name=type]");
    const types = boxes.length ? new Set(data.getAll("type")) : null;
    const flags = data.getAll("flag").filter(Boolean), text = folding.fold(String(data.get("text") ?? "")).trim();
    let shown = 0;
    items.forEach((item, number) => {
      const has = item.dataset.flags.split(" ");
      item.hidden = !(flags.every((flag) => has.includes(flag)) && (!types || types.has(item.dataset.type))
        && (!text || texts[number].includes(text)));
      shown += !item.hidden;
    });
    for (const group of document.querySelectorAll("section.group")) {
      group.hidden = !group.querySelector("article.chunk:not([hidden])");
    }
    count.textContent = `${shown} of ${items.length} ${count.dataset.count}`;
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", later(apply, 100));
  apply();
  return { form, apply };
}

// Each column of the table of sources sorts it: the largest number or the first name first, then the other way.
function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].dataset.value;
  const name = (row) => row.cells[0].textContent;
  heads.forEach((head, column) => {
    const button = make("button", "sort", head.textContent);
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const numbers = value(body.rows[0], column) !== undefined, sorted = head.getAttribute("aria-sort");
      const rising = sorted ? sorted === "descending" : !numbers;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const compare = (one, two) => numbers ? value(one, column) - value(two, column) : name(one).localeCompare(name(two));
      const rows = [...body.rows].sort((one, two) => (rising ? 1 : -1) * compare(one, two));
      body.append(...rows);
    });
  });
}

// A link to a chunk that a filter hides shows it again.
function revealTarget(filters) {
  const target = document.getElementById(location.hash.slice(1));
  if (!target?.closest("[hidden]")) return;
  for (const { form, apply } of filters) { form.reset(); apply(); }
  target.scrollIntoView();
  target.focus({ preventScroll: true });
}

// -- searching --------------------------------------------------------------------------------------------------------

const STEP = 50;  // results that are shown at a time

// The folded text with, for each of its letters, where in the text the letter's own begins.
function foldedPlaces(text, fold) {
  let folded = "";
  const places = [];
  for (const found of text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)) {
    const piece = found[0] === "\u0640" ? "" : fold(found[0]);
    for (let count = 0; count < piece.length; count++) places.push(found.index);
    folded += piece;
  }
  return { folded, places };
}

// Where the words stand in the text: [begin, end] pairs, ascending, apart from each other.
function occurrences(text, words, fold) {
  const { folded, places } = foldedPlaces(text, fold);
  const found = [];
  for (const word of words) {
    for (const hit of folded.matchAll(word.every)) {
      const end = hit.index + hit[0].length;
      found.push([places[hit.index], end < places.length ? places[end] : text.length]);
    }
  }
  found.sort((one, two) => one[0] - two[0]);
  const joined = [];
  for (const [begin, end] of found) {
    const last = joined[joined.length - 1];
    if (last && begin <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([begin, end]);
  }
  return joined;
}

// The text around the first place where something was found, with all such places marked.
function excerpt(text, found, most = 360) {
  let begin = 0, end = text.length;
  if (end > most) {
    begin = Math.max(0, (found[0]?.[0] ?? 0) - most / 3);
    if (begin) begin = Math.max(text.lastIndexOf(" ", begin), text.lastIndexOf("\n", begin), begin - 30) + 1;
    end = Math.min(text.length, begin + most);
    const space = text.slice(0, end).lastIndexOf(" ");
    if (end < text.length && space > begin) end = space;
  }
  const element = bear(make("p", "text"), text);
  element.textContent = "";
  if (begin) element.append("… ");
  let place = begin;
  for (const [from, to] of found) {
    if (from < begin || to > end) continue;
    element.append(text.slice(place, from), make("mark", "", text.slice(from, to)));
    place = to;
  }
  element.append(text.slice(place, end));
  if (end < text.length) element.append(" …");
  return element;
}

function searchPage(form, data) {
  const fold = (text) => folding.fold(text, data.folding);
  const status = document.getElementById("found"), list = document.getElementById("results");
  const more = document.getElementById("more");
  const texts = [];  // folded, by chunk; made in slices so that the page answers meanwhile
  let results = [], words = [], shown = 0;

  function prepare() {
    for (let count = 0; count < 250 && texts.length < data.chunks.length; count++) {
      const [id, , , headings, , , , context, text] = data.chunks[texts.length];
      texts.push(fold(`${id}\n${data.headings[headings]}\n${context}\n${text}`));
    }
    if (texts.length < data.chunks.length) setTimeout(prepare);
    else search();
  }

  // Folded words of the query, each with patterns that find it; several in quotes are one.
  function parse(query) {
    const found = [];
    for (const part of query.matchAll(/["“”«»„]([^"“”«»„]*)["“”«»„]?|([^\s"“”«»„]+)/gu)) {
      const folded = fold(part[1] ?? part[2]).trim().split(/\s+/u).filter(Boolean);
      if (!folded.length) continue;
      const pattern = folded.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s+");
      found.push({
        once: new RegExp(pattern, "u"), every: new RegExp(pattern, "gu"),
        begins: new RegExp(`(?<![\\p{L}\\p{N}])${pattern}`, "u"),
      });
    }
    return found;
  }

  // More is better: whole beginnings of words before their insides, the words one behind another before all.
  function score(text, phrase) {
    let sum = 0;
    for (const word of words) {
      if (!word.once.test(text)) return -1;
      sum += word.begins.test(text) ? 1 : 0;
    }
    return sum + (phrase && text.includes(phrase) ? words.length : 0);
  }

  function search() {
    if (texts.length < data.chunks.length) { status.textContent = "Preparing the search …"; return; }
    const values = new FormData(form), query = String(values.get("q") ?? ""), source = values.get("source");
    const types = new Set(values.getAll("type").map(Number)), flags = values.getAll("flag");
    words = parse(query);
    const phrase = words.length > 1 ? fold(query).trim() : "";
    remember(query, source);
    const narrowed = source !== "" || flags.length || types.size < data.types.length;
    results = [];
    if (words.length || narrowed) {
      data.chunks.forEach((chunk, number) => {
        const [, from, type, , , , has] = chunk;
        if (!types.has(type) || (source !== "" && Number(source) !== from)) return;
        if (!flags.every((flag) => has.split(" ").includes(flag))) return;
        const points = score(texts[number], phrase);
        if (points >= 0) results.push([points, number]);
      });
      results.sort((one, two) => two[0] - one[0] || one[1] - two[1]);
    }
    list.replaceChildren();
    shown = 0;
    show();
    const count = results.length === 0 ? "No chunk holds all of this"
      : results.length === 1 ? "1 chunk" : `${results.length} chunks`;
    status.textContent = !words.length && !narrowed ? `${data.chunks.length} chunks to search`
      : shown < results.length ? `${count}, the first ${shown} are shown` : count;
  }

  function show() {
    const batch = document.createDocumentFragment();
    for (const [, number] of results.slice(shown, shown + STEP)) batch.append(item(data.chunks[number]));
    list.append(batch);
    shown = Math.min(results.length, shown + STEP);
    more.hidden = shown >= results.length;
  }

  function item([id, from, type, headings, place, tokens, , context, text]) {
    const [source, page] = data.sources[from], [name, word] = data.types[type];
    const element = make("li", `chunk t-${name}`), head = make("p", "head"), link = make("a");
    link.href = `${page}#c-${id}`;
    const file = make("bdi", "file");
    file.dir = "ltr";
    const [, folders, stem, suffix] = source.match(/^(.*\/)?(.*?)(\.[^./]*)?$/su);
    for (const piece of [...(folders ?? "").split(/(\/)/), stem, suffix ?? ""]) {
      if (piece === "/") file.append(make("span", "slash", "/"), make("wbr"));
      else if (piece) file.append(bear(make("bdi"), piece));
    }
    link.append(file, " ", make("bdi", "place", place));
    head.append(make("span", `tag t-${name}`, word), " ", link, ` ${tokens} tokens`);
    element.append(head);
    if (data.headings[headings]) {
      element.append(bear(make("p", "path"), data.headings[headings]));
    }
    let found = occurrences(text, words, fold);
    if (!found.length && context && occurrences(context, words, fold).length) {
      found = occurrences(context, words, fold);
      const repeated = excerpt(context, found);
      repeated.className = "context";
      element.append(repeated);
      found = [];
    }
    element.append(excerpt(text, found));
    return element;
  }

  // In the address, so that a search can be linked to and comes back with the browser's back button.
  function remember(query, source) {
    const state = new URLSearchParams();
    if (query || location.search) state.set("q", query);
    if (source !== "") state.set("source", data.sources[Number(source)][0]);
    const wanted = String(state) ? `#${state}` : "";
    if (wanted !== location.hash) history.replaceState(null, "", wanted || "#");
  }

  function recall() {
    const state = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
    form.elements.q.value = state.get("q") ?? "";
    const number = data.sources.findIndex(([source]) => source === state.get("source"));
    form.elements.source.value = number < 0 ? "" : String(number);
  }

  const typed = later(search, 150);
  form.addEventListener("submit", (event) => { event.preventDefault(); typed(true); });
  form.addEventListener("input", typed);
  more.addEventListener("click", () => {
    const first = list.children.length;
    show();
    status.textContent = `${results.length} chunks, the first ${shown} are shown`;
    list.children[first]?.querySelector("a").focus();
  });
  window.addEventListener("hashchange", () => { recall(); search(); });
  recall();
  prepare();
}

// -- beginning --------------------------------------------------------------------------------------------------------

document.documentElement.classList.add("js");
const filters = [...document.querySelectorAll("form[data-filters]")].map(filter);
if (filters.length) {
  window.addEventListener("hashchange", () => revealTarget(filters));
  revealTarget(filters);
}
const sources = document.querySelector("table.sources");
if (sources && sources.tBodies[0].rows.length) sortable(sources);
const searchForm = document.getElementById("search");
if (searchForm) searchPage(searchForm, window.ragpressData);
