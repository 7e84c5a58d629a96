// The search page: it finds what the reader's `words` mode finds, ranked by the same scores.
"use strict";

const STEP = 50;  // results that are shown at a time
const MOST = 255;  // a word that a chunk repeats more often counts so many times
const SLICE = 250;  // chunks that are looked at before the page may answer

// Where the text has one of the words: [begin, end] pairs, ascending, apart from each other.
function occurrences(text, wanted, fold) {
  const found = [];
  for (const [words, begin, end] of wording.tokens(text, fold)) {
    if (words.some((word) => wanted.has(word))) found.push([begin, end]);
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
  const remembered = new Map();  // folded pieces of text: a corpus repeats its words
  const status = document.getElementById("found"), list = document.getElementById("results");
  const more = document.getElementById("more");
  const postings = new Map(), lengths = [];  // [chunk, count] pairs of each word; words of each chunk
  let results = [], asked = new Map(), shown = 0;

  function fold(piece) {
    let folded = remembered.get(piece);
    if (folded === undefined) remembered.set(piece, folded = folding.fold(piece, data.folding));
    return folded;
  }

  function prepare() {
    for (let count = 0; count < SLICE && lengths.length < data.chunks.length; count++) {
      const number = lengths.length, counts = new Map();
      const words = wording.words(textOf(data.chunks[number]), fold);
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const [word, times] of counts) {
        if (!postings.has(word)) postings.set(word, []);
        postings.get(word).push([number, Math.min(times, MOST)]);
      }
      lengths.push(words.length);
    }
    if (lengths.length < data.chunks.length) setTimeout(prepare);
    else search();
  }

  const textOf = ([, , , , , , , context, text]) => `${context}\n${text}`;

  // The folded phrases in quotes, which a hit must hold as they stand.
  function phrases(query) {
    const quoted = [...query.matchAll(/["“”«»„]([^"“”«»„]*)["“”«»„]/gu)];
    return quoted.map(([, phrase]) => folding.fold(phrase, data.folding).trim().split(/\s+/u).join(" ")).filter(Boolean);
  }

  // Of each chunk, the words of the query that it has not, as they were typed.
  function missing(number) {
    const absent = [...asked].filter(([word]) => !postings.get(word)?.some(([chunk]) => chunk === number));
    return [...new Set(absent.map(([, typed]) => typed))];
  }

  function search() {
    if (lengths.length < data.chunks.length) { status.textContent = "Preparing the search …"; return; }
    const values = new FormData(form), query = String(values.get("q") ?? ""), source = values.get("source");
    const types = new Set(values.getAll("type").map(Number)), flags = values.getAll("flag");
    remember(query, source);
    asked = new Map();
    for (const [words, begin, end] of wording.tokens(query, fold)) {
      for (const word of words) asked.set(word, query.slice(begin, end));
    }
    const held = phrases(query), identifier = query.trim().toLowerCase();
    const scores = scoring.scores([...asked.keys()], (word) => postings.get(word) ?? [], lengths);
    const narrowed = source !== "" || flags.length || types.size < data.types.length;
    results = [];
    data.chunks.forEach((chunk, number) => {
      const [id, from, type, , , , has] = chunk;
      if (!types.has(type) || (source !== "" && Number(source) !== from)) return;
      if (!flags.every((flag) => has.split(" ").includes(flag))) return;
      if (id !== identifier && !scores.has(number) && (asked.size || !narrowed)) return;
      if (held.length) {
        const folded = folding.fold(textOf(chunk), data.folding).replace(/\s+/gu, " ");
        if (!held.every((phrase) => folded.includes(phrase))) return;
      }
      results.push([id === identifier ? 1 : scores.get(number) ?? 0, number]);
    });
    const before = (one, two) => data.chunks[one][0] < data.chunks[two][0] ? -1 : 1;  // by id, as in an artifact
    results.sort((one, two) => two[0] - one[0] || (asked.size ? before(one[1], two[1]) : one[1] - two[1]));
    list.replaceChildren();
    shown = 0;
    show();
    tell(!asked.size && !narrowed);
  }

  function tell(idle) {
    const count = results.length === 0 ? "No chunk has a word of this"
      : results.length === 1 ? "1 chunk" : `${results.length} chunks`;
    status.textContent = idle && !results.length ? `${data.chunks.length} chunks to search`
      : shown < results.length ? `${count}, the first ${shown} are shown` : count;
  }

  function show() {
    const batch = document.createDocumentFragment();
    for (const [score, number] of results.slice(shown, shown + STEP)) batch.append(item(score, number));
    list.append(batch);
    shown = Math.min(results.length, shown + STEP);
    more.hidden = shown >= results.length;
  }

  function item(score, number) {
    const [id, from, type, headings, place, tokens, , context, text] = data.chunks[number];
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
    if (asked.size) head.append(` · word score ${score.toFixed(3)}`);
    element.append(head);
    if (data.headings[headings]) {
      element.append(bear(make("p", "path"), data.headings[headings]));
    }
    const found = occurrences(text, asked, fold), above = occurrences(context, asked, fold);
    if (!found.length && above.length) {
      const repeated = excerpt(context, above);
      repeated.className = "context";
      element.append(repeated);
    }
    element.append(excerpt(text, found));
    const absent = asked.size ? missing(number) : [];
    if (absent.length) {
      const line = make("p", "missing quiet", "without ");
      absent.forEach((typed, at) => line.append(at ? ", " : "", bear(make("bdi"), typed)));
      element.append(line);
    }
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
    tell(false);
    list.children[first]?.querySelector("a").focus();
  });
  window.addEventListener("hashchange", () => { recall(); search(); });
  recall();
  prepare();
}

searchPage(document.getElementById("search"), window.ragpressData);
