// The report's filters. Everything works from disk: no request is ever made.
"use strict";

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

// -- beginning --------------------------------------------------------------------------------------------------------

document.documentElement.classList.add("js");
const filters = [...document.querySelectorAll("form[data-filters]")].map(filter);
if (filters.length) {
  window.addEventListener("hashchange", () => revealTarget(filters));
  revealTarget(filters);
}
const sources = document.querySelector("table.sources");
if (sources && sources.tBodies[0].rows.length) sortable(sources);
