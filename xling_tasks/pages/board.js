"use strict";
(() => {
  // Names on this page come from whoever ran the models and are never markup: they reach the
  // document through textContent alone, and the page's policy forbids markup from strings.
  const page = JSON.parse(document.getElementById("page").textContent);
  const $ = (id) => document.getElementById(id);
  const ALL = "*";
  // It opens where a language is shown to be worse: harm before help, as the measures stand.
  const worse = new Set(page.cells.filter((cell) => cell.verdict === "worse").map((cell) => cell.endpoint));
  const opened = page.endpoints.find((endpoint) => worse.has(endpoint.key)) ?? page.endpoints[0];
  const state = { endpoint: opened.key, language: ALL, models: "", verdict: ALL, sort: "", down: false };
  const endpoints = new Map(page.endpoints.map((endpoint) => [endpoint.key, endpoint]));
  const squares = new Map();
  for (const cell of page.cells) squares.set(JSON.stringify([cell.endpoint, cell.model, cell.language]), cell);
  const at = (endpoint, model, language) => squares.get(JSON.stringify([endpoint.key, model, language]));

  function make(tag, text = "", kind = "") {
    const made = document.createElement(tag);
    if (text !== "") made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  const put = (parent, ...children) => (parent.append(...children), parent);

  function place(cell) {
    if (cell.rank_low === null) return "";
    return cell.rank_low === cell.rank_high ? `${cell.rank_low}` : `${cell.rank_low}\u2013${cell.rank_high}`;
  }

  const name = (code) => page.languages[code] ?? code;
  function sign(cell) {
    const verdict = cell.verdict;
    const made = make("span");
    if (!verdict) return made;
    const look = page.looks[verdict];
    made.className = `verdict verdict-${look.kind}`;
    const shown = make("span", look.sign);
    shown.setAttribute("aria-hidden", "true");
    return put(made, shown, make("span", `${look.words} `, "heard"));
  }

  const handed = (name) => page.models.find((model) => model.name === name)?.handed_in ?? [];

  // Only addresses that were checked when the board was made, and checked again here.
  function link(address, text, kind = "") {
    if (!address.startsWith("https://")) return make("span", address, kind);
    const made = make("a", text, kind);
    made.href = address;
    made.rel = "noopener noreferrer";
    return made;
  }

  // Each language in a sentence; how each model was run

  function said_of_languages() {
    const list = $("languages").querySelector("ul");
    for (const { language, said } of page.by_language) {
      const button = make("button", name(language));
      button.type = "button";
      button.addEventListener("click", () => { choose({ language, sort: "", down: false }, language); $("what").focus(); });
      put(list, put(make("li"), button, make("span", said.slice(name(language).length))));
    }
  }

  function how_made() {
    const head = make("tr"), body = make("tbody");
    for (const text of ["Model", "Handed in by", "Measured", "Price", "Newest run", "Samples"]) {
      const cell = put(make("th", text));
      cell.scope = "col";
      put(head, cell);
    }
    const lines = (texts) => put(make("td"), ...texts.map((text) => make("span", text, "small")));
    for (const model of page.models) {
      const first = put(make("th", model.name), make("span", model.model, "small"));
      first.scope = "row";
      first.dir = "auto";
      const measured = model.made.map(({ title, versions, helpers }) => {
        const by = Object.entries(helpers).map(([role, names]) => `${role}: ${names.join(", ")}`);
        return [`${title} ${versions.join(", ")}`, ...by].join("; ");
      });
      const packages = Object.entries(model.versions).map(([key, versions]) => `${key} ${versions.join(", ")}`);
      const given = model.handed_in;
      const prices = given.flatMap(({ price, paid }) => [
        ...(price ? [`$${price[0]} / $${price[1]} a million tokens sent / received`] : []),
        ...(paid === null ? [] : [`$${paid} for the run`]),
      ]);
      const samples = put(make("td"), ...given.filter((said) => said.samples).map((said) => link(said.samples, said.samples, "small")));
      put(body, put(make("tr"), first, lines(given.map((said) => said.by || "not said")), lines([...measured, ...packages]), lines(prices), lines([model.newest_run.slice(0, 10)]), samples));
    }
    put($("made").querySelector("div"), put(make("table"), put(make("thead"), head), body));
  }

  // What is shown

  const wanted = (model) => model.toLowerCase().includes(state.models.trim().toLowerCase());
  const fits = (cell) => state.verdict === ALL || cell.verdict === state.verdict;

  function modelsOf(endpoint, group) {
    return group.models.filter((model) => wanted(model) && endpoint.languages.some((code) => at(endpoint, model, code)));
  }

  function heading(text, key, current, then) {
    const cell = make("th");
    cell.scope = "col";
    const button = make("button", text);
    button.type = "button";
    button.dataset.sort = key;
    if (current) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    if (current) put(button, make("span", state.down ? " ▾" : " ▴"));
    button.addEventListener("click", () => {
      const down = current ? !state.down : then;
      Object.assign(state, { sort: key, down });
      draw();
      document.querySelector(`button[data-sort="${CSS.escape(key)}"]`)?.focus();
    });
    return put(cell, button);
  }

  function sorted(items, value) {
    const sign = state.down ? -1 : 1;
    // What has no value comes last, whichever way.
    return [...items].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return sign * (typeof x === "string" ? x.localeCompare(y, "en") : x - y);
    });
  }

  // All languages: a row each, a column per model

  function matrix(endpoint, group) {
    const models = modelsOf(endpoint, group);
    const keep = (code) => models.some((model) => at(endpoint, model, code) && fits(at(endpoint, model, code)));
    let codes = endpoint.languages.filter(keep);
    if (!models.length || !codes.length) return null;
    if (state.sort === "language") codes = sorted(codes, name);
    if (models.includes(state.sort)) codes = sorted(codes, (code) => at(endpoint, state.sort, code)?.value);
    const head = make("tr");
    put(head, heading("Language", "language", state.sort === "language", false));
    for (const model of models) put(head, heading(model, model, state.sort === model, endpoint.higher_is_better === false));
    const body = make("tbody");
    const scale = scaleOf(endpoint);
    for (const code of codes) {
      const row = make("tr");
      const first = make("th");
      first.scope = "row";
      const button = make("button", name(code));
      button.type = "button";
      button.addEventListener("click", () => { choose({ language: code, sort: "", down: false }); $("what").focus(); });
      put(row, put(first, button));
      for (const model of models) put(row, matrixCell(endpoint, at(endpoint, model, code), scale));
      put(body, row);
    }
    const table = put(make("table"), put(make("thead"), head), body);
    table.setAttribute("aria-label", `${endpoint.title}, group ${group.number}: languages by models`);
    const box = make("div", "", "matrix");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", `Table of group ${group.number}, scrolls`);
    const told = make("p", `${explained(endpoint, group)} A language's name shows it by itself; a model's name sorts by it.`, "soft");
    return put(make("div"), told, legend(endpoint), put(box, table));
  }

  function legend(endpoint) {
    const made = make("p", "", "legend-line");
    if (!page.cells.some((cell) => cell.endpoint === endpoint.key && cell.verdict)) return made;
    for (const look of Object.values(page.looks)) {
      put(made, put(make("span"), make("span", look.sign, `verdict verdict-${look.kind}`), make("span", ` ${look.words}`)));
    }
    return made;
  }

  function matrixCell(endpoint, cell, scale) {
    const made = make("td");
    if (!cell || !fits(cell)) return put(made, make("span", cell ? "\u00b7" : "not measured", "soft small"));
    const first = put(make("span", "", "value"), make("span", `${cell.shown} `), sign(cell));
    put(made, first, make("span", cell.interval_shown, "small"));
    if (cell.value !== null) put(made, picture(endpoint, cell, scale));
    if (cell.rank_low !== null) put(made, make("span", cell.rank_low === cell.rank_high ? `rank ${place(cell)}` : `rank somewhere from ${cell.rank_low} to ${cell.rank_high}`, "small rank"));
    return made;
  }

  function explained(endpoint, group) {
    const interval = `${Math.round(100 * page.level)}% interval`;
    const unit = endpoint.share ? "percent" : "score";
    return `Value in ${unit}, its ${interval}, and the ranks that it can have among the models of this group that could be ranked there.`;
  }

  // One language: a row per model

  const ORDER = ["worse", "not_comparable", "inconclusive", "equivalent", "better"];
  const KEYS = {
    rank: (cell) => (cell.rank_low === null ? null : cell.rank_low + cell.rank_high / 1000),
    model: (cell) => cell.model,
    value: (cell) => cell.value,
    verdict: (cell) => (cell.verdict ? ORDER.indexOf(cell.verdict) : null),
    gap: (cell) => cell.estimate,
  };

  function one(endpoint, group) {
    let cells = modelsOf(endpoint, group).map((model) => at(endpoint, model, state.language)).filter((cell) => cell && fits(cell));
    if (!cells.length) return null;
    const key = KEYS[state.sort] ? state.sort : "rank";
    if (!KEYS[state.sort]) state.down = false;
    // Equal ranks: the better value first.
    const up = endpoint.higher_is_better ? -1 : 1;
    cells.sort((a, b) => (a.value === null) - (b.value === null) || up * (a.value - b.value));
    cells = sorted(cells, KEYS[key]);
    const head = make("tr");
    const columns = [["Rank", "rank"], ["Model", "model"], ["Value", "value"]];
    for (const [text, own] of columns) put(head, heading(text, own, key === own, own === "value" && endpoint.higher_is_better));
    const shown = put(make("th", "Interval"));
    shown.scope = "col";
    shown.className = "picture";
    put(head, shown);
    if (state.language !== "en") put(head, heading("Against English", "verdict", key === "verdict", false));
    [...head.children].slice(0, 3).forEach((cell, index) => { cell.className = ["rank", "name", "number"][index]; });
    const scale = scaleOf(endpoint);
    const body = make("tbody");
    for (const cell of cells) put(body, oneRow(endpoint, group, cell, scale));
    return put(make("table", "", "one"), make("caption", explained(endpoint, group)), put(make("thead"), head), body);
  }

  function oneRow(endpoint, group, cell, scale) {
    const row = make("tr");
    const rank = make("td", "", "rank");
    if (cell.rank_low === null) put(rank, make("span", "not ranked", "small"));
    else {
      put(rank, make("span", place(cell), "value"), make("span", ` of ${cell.ranked}`, "soft"));
      put(rank, places(cell), make("span", `behind ${cell.better.length}, before ${cell.worse.length}`, "small"));
      rank.title = `Shown to be better: ${cell.better.join(", ") || "none"}. Shown to be worse: ${cell.worse.join(", ") || "none"}.`;
    }
    const first = make("th", cell.model, "name");
    first.scope = "row";
    first.dir = "auto";
    for (const said of handed(cell.model)) if (said.samples) put(first, link(said.samples, "its samples", "small"));
    const value = make("td", "", "number");
    put(value, make("span", cell.shown, "value"), make("span", cell.interval_shown, "small"), make("span", `${cell.n} questions`, "small"));
    if (cell.unread) put(value, make("span", `${cell.unread} not read`, "small"));
    const drawn = make("td", "", "picture");
    if (cell.value !== null) put(drawn, picture(endpoint, cell, scale));
    put(row, rank, first, value, drawn);
    if (state.language !== "en") put(row, said(cell));
    return row;
  }

  function said(cell) {
    const made = make("td", "", "said");
    const verdict = cell.verdict;
    const english = at(endpoints.get(cell.endpoint), cell.model, "en");
    if (!verdict) return put(made, make("span", english ? "exploratory: nothing is concluded" : "no English answers to compare with", "small"));
    const marked = sign(cell);
    marked.lastElementChild.className = "";
    marked.lastElementChild.prepend(" ");
    put(made, marked);
    return put(made, make("span", cell.in_words, "small"));
  }

  // One scale for all groups and choices of models, so that pictures can be held against each other.
  function scaleOf(endpoint) {
    const cells = page.cells.filter((cell) => cell.endpoint === endpoint.key && (state.language === ALL || cell.language === state.language));
    const english = cells.map((cell) => at(endpoint, cell.model, "en")?.value ?? null);
    const known = [...english, ...cells.flatMap((cell) => [cell.low, cell.high, cell.value])].filter((x) => x !== null);
    const low = Math.min(...known, 1), high = Math.max(...known, 0);
    const room = Math.max(high - low, 0.02) * 0.05;
    return { low: low - room, high: high + room };
  }

  function canvas() {
    const SVG = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 200 18");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const add = (tag, kind, numbers) => {
      const made = document.createElementNS(SVG, tag);
      made.setAttribute("class", kind);
      for (const [key, value] of Object.entries(numbers)) made.setAttribute(key, value);
      svg.append(made);
    };
    return { svg, add };
  }

  // The places that a model can have, the best at the left.
  function places(cell) {
    const { svg, add } = canvas();
    const step = 200 / cell.ranked;
    svg.classList.add("places");
    add("line", "rail", { x1: 0, x2: 200, y1: 9, y2: 9 });
    add("rect", "span", { x: step * (cell.rank_low - 1), y: 5, width: step * (cell.rank_high - cell.rank_low + 1), height: 8 });
    return svg;
  }

  function picture(endpoint, cell, { low, high }) {
    const { svg, add } = canvas();
    const x = (value) => (200 * (value - low)) / (high - low);
    add("line", "rail", { x1: 0, x2: 200, y1: 9, y2: 9 });
    const english = at(endpoint, cell.model, "en");
    if (cell.language !== "en" && english && english.value !== null) {
      add("line", "english", { x1: x(english.value), x2: x(english.value), y1: 1, y2: 17 });
    }
    if (cell.low !== null) add("line", "bar", { x1: x(cell.low), x2: x(cell.high), y1: 9, y2: 9 });
    if (cell.value !== null) add("rect", "dot", { x: x(cell.value) - 2.5, y: 4, width: 5, height: 10 });
    return svg;
  }

  // The page

  function draw() {
    const endpoint = endpoints.get(state.endpoint);
    const language = state.language === ALL ? "every language" : name(state.language);
    $("what").textContent = `${endpoint.title}: ${language}`;
    $("direction").textContent = `${endpoint.place}. ${endpoint.higher_is_better ? "More is better." : "Fewer is better."}` +
      (endpoint.same_questions_in_every_language ? "" : " The languages have different questions.") +
      (state.language === "en" ? "" : " The dashed line is the model's own value in English, where it has one.");
    const place = $("groups");
    place.replaceChildren();
    let count = 0;
    for (const group of endpoint.groups) {
      const table = state.language === ALL ? matrix(endpoint, group) : one(endpoint, group);
      if (!table) continue;
      if (endpoint.groups.length > 1) {
        put(place, make("h3", `Group ${group.number}: ${group.models.length} model${group.models.length === 1 ? "" : "s"} run alike`));
        for (const line of group.differs) put(place, make("p", line, "small"));
      }
      count += state.language === ALL ? modelsOf(endpoint, group).length : table.querySelectorAll("tbody tr").length;
      put(place, table);
    }
    if (!count) put(place, make("p", "Nothing fits these choices."));
    const total = new Set(endpoint.groups.flatMap((group) => group.models)).size;
    $("status").textContent = `${count} of ${total} models shown.`;
    apart(endpoint);
    remember();
  }

  function apart(endpoint) {
    const reasons = new Map();
    for (const cell of page.cells) {
      const unlike = cell.verdict === "not_comparable";
      if (cell.endpoint !== endpoint.key || !unlike || !wanted(cell.model)) continue;
      if (state.language !== ALL && cell.language !== state.language) continue;
      const key = JSON.stringify([cell.model, cell.reason]);
      reasons.set(key, [...(reasons.get(key) ?? []), name(cell.language)]);
    }
    const [summary, list] = $("apart").children;
    $("apart").hidden = !reasons.size;
    $("apart").open = reasons.size > 0;
    summary.textContent = "Not comparable, and why";
    list.replaceChildren(...[...reasons].map(([key, languages]) => {
      const [model, reason] = JSON.parse(key);
      return make("li", `${model}, ${languages.join(", ")}: ${reason}.`);
    }));
  }

  // A language that the measure lacks brings the first measure that has it.
  function choose(changes, language = "") {
    Object.assign(state, changes);
    if (language && !endpoints.get(state.endpoint).languages.includes(language)) {
      state.endpoint = page.endpoints.find((endpoint) => endpoint.languages.includes(language)).key;
    }
    fill();
    draw();
  }

  function option(value, text) {
    const made = make("option", text);
    made.value = value;
    return made;
  }

  function fill() {
    const endpoint = endpoints.get(state.endpoint);
    if (state.language !== ALL && !endpoint.languages.includes(state.language)) state.language = ALL;
    $("language").replaceChildren(option(ALL, `all (${endpoint.languages.length})`), ...endpoint.languages.map((code) => option(code, name(code))));
    for (const id of ["endpoint", "language", "models", "verdict"]) $(id).value = state[id];
  }

  // The choice is part of the address, so that it can be sent to someone.
  function remember() {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(state)) {
      if (value && value !== ALL && value !== true) words.set(key, value);
    }
    if (state.down) words.set("down", "1");
    const hash = `#${words}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  function recall() {
    const words = new URLSearchParams(location.hash.slice(1));
    const taken = (key) => words.get(key) ?? "";
    if (endpoints.has(taken("endpoint"))) state.endpoint = taken("endpoint");
    state.language = taken("language") in page.languages ? taken("language") : ALL;
    state.verdict = taken("verdict") in page.looks ? taken("verdict") : ALL;
    state.models = taken("models");
    state.sort = taken("sort");
    state.down = taken("down") === "1";
  }

  function start() {
    const models = page.models.length, languages = Object.keys(page.languages).length;
    $("lead").textContent = `${models} model${models === 1 ? "" : "s"}, ${languages} language${languages === 1 ? "" : "s"}, ${page.endpoints.length} measures. Newest run: ${page.newest_run.slice(0, 10)}. Nothing here shows that any answer is safe to follow.`;
    const places = new Map();
    for (const endpoint of page.endpoints) {
      if (!places.has(endpoint.place)) {
        const group = make("optgroup");
        group.label = endpoint.place;
        places.set(endpoint.place, group);
      }
      places.get(endpoint.place).append(option(endpoint.key, endpoint.title));
    }
    $("endpoint").append(...places.values());
    $("verdict").append(option(ALL, "any"), ...Object.entries(page.looks).map(([key, look]) => option(key, `${look.sign} ${look.words}`)));
    if (page.notes.length) {
      $("notes").hidden = false;
      $("notes").firstElementChild.textContent = `What to know first (${page.notes.length})`;
      $("notes").lastElementChild.append(...page.notes.map((note) => make("li", note)));
    }
    $("about").querySelector("div").append(
      ...page.about.map((text) => make("p", text)),
      ...Object.values(page.looks).map((look) => put(make("p"), make("span", look.sign, `verdict verdict-${look.kind}`), make("span", ` ${look.words}`))),
    );
    said_of_languages();
    how_made();
    for (const id of ["endpoint", "language", "verdict"]) {
      $(id).addEventListener("change", () => choose({ [id]: $(id).value, ...(id === "verdict" ? {} : { sort: "", down: false }) }));
    }
    $("models").addEventListener("input", () => { state.models = $("models").value; draw(); });
    $("choices").addEventListener("submit", (event) => event.preventDefault());
    $("choices").addEventListener("reset", (event) => {
      event.preventDefault();
      choose({ language: ALL, models: "", verdict: ALL, sort: "", down: false });
    });
    addEventListener("hashchange", () => { recall(); fill(); draw(); });
    recall();
    fill();
    draw();
  }

  start();
})();
