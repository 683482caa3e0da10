"use strict";
(() => {
  const { $, element, show, written, keyOf } = reading;
  const FILTERS = ["model", "criterion", "dataset", "language", "label", "flag", "gap", "sort"];
  const TITLES = {
    model: "Model", criterion: "Criterion", dataset: "Dataset", language: "Language",
    label: "Label", flag: "What is the matter", gap: "Against English", sort: "Order",
  };
  const AT_FIRST = 8; // two rows of a laptop
  let state = null; // what there is, from the server
  let place = { path: [], query: new URLSearchParams() };
  let list = { total: 0, from: 0, page: 50, items: [] };
  let open = null; // the question that is shown
  let listKey = null;
  let wasReading = null;
  const isWide = () => matchMedia("(min-width: 48rem)").matches;
  let asked = 0; // the newest request for a list or question; older answers are dropped

  // The server

  async function get(name, values = {}) {
    let answer;
    try {
      answer = await fetch(`api/${name}?${new URLSearchParams(values)}`);
    } catch {
      throw new Error("xling view does not answer: it was ended. Start it again and open its new address.");
    }
    const content = await answer.json().catch(() => ({ error: `${answer.status}: no answer that can be read` }));
    if (content.error) throw new Error(content.error);
    return content;
  }

  function problem(message) {
    $("problem").hidden = !message;
    if (message) show($("problem"), message);
  }

  async function trying(act) {
    try {
      await act();
    } catch (error) {
      problem(error.message);
    }
  }

  // Words

  function cleared(id) {
    $(id).replaceChildren();
    return $(id);
  }

  const known = (kind, key) => state?.words[kind]?.[key] ?? spaced(key);
  const spaced = (key) => String(key).replaceAll("_", " ");
  const languageName = (key) => (key ? known("language", key) : "all languages");
  const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
  const SIGNS = { good: "\u2713 ", partly: "\u25d0 ", bad: "\u2717 ", unsure: "? " };
  const SAID = { good: "good", partly: "partly good", bad: "bad", unsure: "not sure" };

  // A label with the sign of its tone, which is spoken, too; the colour comes from the class.
  function toned(node, tone, text) {
    if (SIGNS[tone]) {
      element(node, "span", SIGNS[tone]).setAttribute("aria-hidden", "true");
      element(node, "span", `${SAID[tone]}: `, "spoken");
    }
    return show(node, text);
  }

  function searched() {
    const parts = (place.query.get("text") ?? "").split('"');
    const words = parts.flatMap((part, index) => (index % 2 ? [part] : part.split(/\s+/)));
    return words.map((word) => word.trim().toLowerCase()).filter(Boolean);
  }

  // Where we are: #/ or #/q/TASK/QUESTION/MODEL, then ? and the filters

  function read(hash) {
    const [path, query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
    const parts = path.split("/").filter(Boolean).map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    return { path: parts[0] === "q" && parts.length > 2 ? parts.slice(1, 4) : [], query: new URLSearchParams(query) };
  }

  function write(path, query) {
    const words = query.toString();
    const way = path.length ? `q/${path.map(encodeURIComponent).join("/")}` : "";
    return `#/${way}${words ? `?${words}` : ""}`;
  }

  const filters = (query = place.query) => {
    const kept = new URLSearchParams();
    for (const name of ["text", ...FILTERS, "page"]) if (query.get(name)) kept.set(name, query.get(name));
    return kept;
  };

  function go(path, query) {
    const hash = write(path, query);
    if (location.hash === hash) return moved();
    location.hash = hash;
  }

  function moved() {
    place = read(location.hash);
    for (const name of ["text", ...FILTERS]) {
      const field = $(name);
      if (field && field !== document.activeElement) field.value = place.query.get(name) ?? "";
    }
    const active = FILTERS.filter((name) => name !== "sort" && place.query.get(name)).length;
    $("active-filters").textContent = active ? `(${active} set)` : "";
    const reads = place.path.length > 0;
    // Filters and choices fold where they would push what is read off the first screen.
    if (document.body.classList.toggle("reading", reads) !== wasReading) {
      $("more-filters").open = !reads && isWide();
      wasReading = reads;
    }
    return trying(async () => {
      problem("");
      await loadList();
      if (place.path.length) await loadQuestion();
      else closed();
    });
  }

  // The list

  async function loadList(again = false) {
    const wanted = filters();
    const key = wanted.toString();
    if (key === listKey && !again) return mark();
    listKey = key;
    const page = Math.max(1, Number.parseInt(wanted.get("page") ?? "1", 10) || 1);
    wanted.delete("page");
    try {
      const fitting = await get("list", { ...Object.fromEntries(wanted), from: String((page - 1) * list.page) });
      if (key !== listKey) return;
      list = fitting;
    } catch (error) {
      listKey = null;
      throw error;
    }
    drawList();
  }

  // The same question may be there for several models, criteria and ways of asking.
  function found({ total, questions }) {
    if (!total) return "No question fits";
    return count(questions, "question") + (total > questions ? `, ${total.toLocaleString("en")} entries` : "");
  }

  function drawList() {
    $("count").textContent = found(list);
    const items = cleared("items");
    items.start = list.from + 1;
    list.items.forEach((item) => {
      const link = element(element(items, "li"), "a");
      link.href = write([item.link, item.question, item.model], filters());
      const head = element(link, "span", "", "item-head");
      show(head, `${known("criterion", item.criterion)}${item.dataset ? `, ${item.dataset}` : ""} ${item.question}`);
      if (Object.keys(state.models).length > 1) show(element(head, "span", "", "soft"), ` ${item.model}`);
      const text = element(link, "span", "", "item-text");
      written(text, item.title, item.language, searched());
      if (item.snippet) {
        const part = element(link, "span", "", "item-text snippet");
        written(part, `\u2026 ${item.snippet} \u2026`, "", searched());
      }
      chips(element(link, "span", "", "chips"), item.entries);
    });
    const last = Math.max(1, Math.ceil(list.total / list.page));
    const page = Math.floor(list.from / list.page) + 1;
    $("page").textContent = `Page ${page} of ${last}`;
    $("back").disabled = page <= 1;
    $("forward").disabled = page >= last;
    mark();
  }

  function chips(node, entries) {
    const some = entries.some((entry) => !entry.fits);
    const shown = entries.length > 8 ? entries.filter((entry) => entry.fits).slice(0, 8) : entries;
    for (const entry of shown) {
      const chip = element(node, "span", "", `chip ${entry.tone} ${some && entry.fits ? "fits" : ""}`);
      toned(chip, entry.tone, `${entry.language || "?"}${entry.label ? `: ${spaced(entry.label)}` : ""}`);
      for (const flag of entry.flags) show(element(chip, "span", "", "flag"), ` \u26a0 ${known("flag", flag)}`);
    }
    if (shown.length < entries.length) element(node, "span", `${entries.length} languages`, "chip");
  }

  function isHere(item) {
    const [task, question, model] = place.path;
    const of = model || open?.model;
    return item.question === question && (!of || item.model === of)
      && item.entries.some((entry) => entry.task === task);
  }

  function mark() {
    list.items.forEach((item, index) => {
      const link = $("items").children[index]?.firstChild;
      if (!link) return;
      if (place.path.length && isHere(item)) {
        link.setAttribute("aria-current", "true");
        link.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
    });
  }

  async function step(by) {
    const at = place.path.length ? list.items.findIndex(isHere) : -1;
    let to = at < 0 ? (by > 0 ? 0 : -1) : at + by;
    if (to < 0 && (at < 0 || list.from === 0)) return;
    if (to >= list.items.length || to < 0) {
      const page = Math.floor(list.from / list.page) + 1 + by;
      if (list.from + list.items.length >= list.total && by > 0) return;
      place.query.set("page", String(page));
      await loadList();
      to = by > 0 ? 0 : list.items.length - 1;
    }
    const item = list.items[to];
    if (item) go([item.link, item.question, item.model], filters());
  }

  // One question

  function closed() {
    $("question").hidden = true;
    document.title = "Samples - xling view";
    open = null;
  }

  async function loadQuestion() {
    const mine = (asked += 1);
    const [task, question, model = ""] = place.path;
    let match = await get("find", { task, question, model });
    if (match.waiting) problem("This question was not read yet; it is shown as soon as it is.");
    while (match.waiting) {
      await new Promise((done) => setTimeout(done, 700));
      if (mine !== asked) return;
      match = await get("find", { task, question, model });
    }
    problem("");
    const fresh = open?.id !== match.id;
    let { entries } = await get("question", { id: match.id, languages: "" });
    const codes = wanted(entries, match.language);
    ({ entries } = await get("question", { id: match.id, languages: codes.join(",") }));
    if (mine !== asked) return;
    open = { ...match, entries, codes };
    if (fresh) $("choosing").open = isWide() && entries.length <= AT_FIRST;
    if (!list.items.some(isHere)) await showAround(match.id);
    mark();
    drawQuestion();
    $("question").hidden = false;
    if (!fresh) return;
    scrollTo(0, 0);
    $("title").focus({ preventScroll: true });
  }

  // The page of the list that has the question, if the list has it.
  async function showAround(id) {
    const kept = filters();
    kept.delete("page");
    const around = await get("list", { ...Object.fromEntries(kept), around: id });
    if (!around.items.some(isHere)) return;
    list = around;
    drawList();
  }

  // English, the language of the link or filter, then those that fare worst.
  function wanted(entries, linked) {
    const there = entries.map((entry) => entry.language);
    const chosen = (place.query.get("languages") ?? "").split(",").filter((code) => there.includes(code));
    if (place.query.get("languages")) return chosen.length ? chosen : there.slice(0, 1);
    const phone = !isWide() && linked && linked !== "en";
    if (there.length <= AT_FIRST && !phone) return there;
    const worst = [...entries].sort((a, b) => (a.score ?? 9) - (b.score ?? 9)).map((entry) => entry.language);
    const first = ["en", place.query.get("language"), linked].filter((code) => there.includes(code));
    const some = new Set([...first, ...(phone ? [] : worst)]);
    while (some.size > AT_FIRST) some.delete([...some].pop());
    return there.filter((code) => some.has(code));
  }

  function drawQuestion() {
    const { criterion, dataset, question, model, entries, others } = open;
    const name = `${known("criterion", criterion)}${dataset ? `, ${dataset}` : ""}, question ${question}`;
    $("title").replaceChildren();
    show($("title"), name);
    document.title = `${name} - xling view`;
    const about = cleared("about");
    show(about, `Model: ${model}${state.models[model] ? ` (${state.models[model]})` : ""}`);
    others.forEach((other, index) => {
      about.append(index ? ", " : ". The same question by ");
      const link = element(about, "a");
      show(link, other);
      link.href = write([place.path[0], question, other], filters());
    });
    $("link").value = write(place.path, new URLSearchParams()).slice(2);
    $("copied").textContent = "";
    drawLanguages(entries);
    const second = open.language === "en" ? place.query.get("language") : open.language;
    const rank = (entry) => (entry.language === "en" ? 0 : entry.language === second ? 1 : 2);
    drawColumns(entries.filter((entry) => entry.parts).sort((a, b) => rank(a) - rank(b)));
    const at = list.items.findIndex(isHere);
    $("previous").disabled = at < 0 || (at === 0 && list.from === 0);
    $("next").disabled = at >= 0 && list.from + at + 1 >= list.total;
  }

  function drawLanguages(entries) {
    const field = $("languages");
    const focused = document.activeElement?.value;
    field.replaceChildren(field.firstElementChild);
    $("choosing").hidden = entries.length < 2;
    $("beside").textContent = `${open.codes.length} of ${entries.length} shown`;
    for (const entry of entries) {
      const line = element(field, "label", "", `chip ${entry.tone}`);
      const input = element(line, "input");
      Object.assign(input, { type: "checkbox", value: entry.language, checked: open.codes.includes(entry.language) });
      toned(element(line, "span"), entry.tone, ` ${languageName(entry.language)}${entry.label ? `: ${spaced(entry.label)}` : ""}`);
      if (field.contains(document.activeElement) || focused === entry.language) input.focus({ preventScroll: true });
    }
    if (open.codes.length === entries.length) return;
    const all = element(field, "button", `All ${entries.length} languages`);
    all.type = "button";
    all.addEventListener("click", () => beside(entries.map((entry) => entry.language)));
  }

  function beside(codes) {
    const query = filters();
    query.set("languages", codes.join(",") || "en");
    go(place.path, query);
  }

  function drawColumns(entries) {
    const titles = [];
    for (const entry of entries) {
      let at = 0;
      for (const { title } of entry.parts) {
        const there = titles.indexOf(title);
        if (there >= 0) at = there + 1;
        else titles.splice(at++, 0, title);
      }
    }
    const columns = cleared("columns");
    columns.style.setProperty("--rows", String(titles.length + 2));
    columns.setAttribute("role", "region");
    columns.setAttribute("aria-label", "The question in its languages");
    for (const entry of entries) columns.append(column(entry, titles));
  }

  function column(entry, titles) {
    const node = element(null, "section", "", "column");
    const head = element(node, "div", "", "column-head");
    const name = element(head, "h3", "", entry.tone);
    show(name, languageName(entry.language));
    if (entry.label) toned(element(head, "p", "", `label ${entry.tone}`), entry.tone, known("label", entry.label));
    for (const flag of entry.flags) show(element(head, "p", "", "flag"), `\u26a0 ${known("flag", flag)}`);
    for (const title of titles) {
      const number = entry.parts.findIndex((part) => part.title === title);
      if (number < 0) element(node, "div", "", "nothing");
      else node.append(drawPart(entry, number));
    }
    const last = element(node, "div");
    measures(last, entry);
    whole(last, entry);
    return node;
  }

  function drawPart(entry, number) {
    const part = entry.parts[number];
    const node = element(null, "div", "", "part");
    show(element(node, "h4"), part.title);
    if (part.note) show(element(node, "p", "", "soft"), part.note);
    part.passages.forEach((passage, index) => {
      const box = passage.mark ? element(node, "div", "", `marked ${passage.tone}`) : node;
      if (passage.mark) toned(element(box, "p", "", `label ${passage.tone}`), passage.tone, passage.mark);
      if (!passage.text && passage.mark) return;
      const text = element(box, "div", "", "text");
      if (!passage.text) element(text, "span", "empty", "soft");
      written(text, passage.text, passage.language, searched());
      const more = (from) => get("text", { entry: entry.id, part: number, passage: index, from });
      const sent = [...passage.text].length;
      if (passage.length > sent) longer(box, text, sent, passage.length, more);
    });
    return node;
  }

  // A button that brings more of a long text; `from` counts characters as the server does.
  function longer(node, text, from, length, more) {
    const button = element(node, "button");
    button.type = "button";
    const left = () => { button.textContent = `Show more: ${count(length - from, "character")} left`; };
    left();
    button.addEventListener("click", () => trying(async () => {
      const came = await more(from);
      from += [...came.text].length;
      show(text, came.text, searched());
      if (from >= length || !came.text) button.remove();
      else left();
    }));
  }

  function measures(node, entry) {
    if (!entry.measured.length) return;
    const box = element(node, "details");
    element(box, "summary", "All that was measured");
    const table = element(box, "table");
    const body = element(table, "tbody");
    for (const [name, value] of entry.measured) {
      const row = element(body, "tr");
      const head = element(row, "th");
      head.scope = "row";
      show(head, name);
      show(element(row, "td"), value);
    }
  }

  function whole(node, entry) {
    const box = element(node, "details");
    element(box, "summary", "The row in the file, with the prompt");
    show(element(box, "p", "", "soft"), `${entry.file}, row ${entry.row}`);
    const text = element(box, "div", "", "text row");
    box.addEventListener("toggle", () => trying(async () => {
      if (!box.open || text.firstChild) return;
      const more = (from) => get("row", { entry: entry.id, from });
      const came = await more(0);
      const sent = [...came.text].length;
      show(text, came.text);
      if (sent < came.length) longer(box, text, sent, came.length, more);
    }));
  }

  // What there is to choose from

  function drawChoices() {
    for (const name of FILTERS) {
      const select = $(name) ?? made(name);
      const options = choicesOf(name);
      const value = place.query.get(name) ?? "";
      if (value && !options.some(([key]) => key === value)) options.push([value, known(name, value)]);
      const first = name === "sort" ? "as in the data" : "all";
      const wantedOptions = [["", first], ...options];
      if (select.options.length === wantedOptions.length
        && wantedOptions.every(([key, word], i) => select.options[i].value === key && select.options[i].textContent === word)) continue;
      select.replaceChildren();
      for (const [key, word] of wantedOptions) {
        const option = element(select, "option");
        option.value = key;
        show(option, word);
      }
      select.value = value;
      const least = ["model", "criterion", "dataset", "language"].includes(name) ? 2 : 1;
      select.parentElement.hidden = options.length < least && !value;
    }
  }

  function choicesOf(name) {
    if (name === "sort") return [["gap", "widest gap to English first"]];
    if (name === "gap") return Object.entries(state.words.gap);
    const order = Object.keys(state.words[name] ?? {});
    const rank = (key) => (order.indexOf(key) < 0 ? order.length : order.indexOf(key));
    const choices = Object.entries(state.choices[name]);
    choices.sort((a, b) => rank(a[0]) - rank(b[0]) || a[0].localeCompare(b[0]));
    return choices.map(([key, n]) => [key, `${known(name, key)} (${n.toLocaleString("en")})`]);
  }

  function made(name) {
    const line = element($("selects"), "p");
    const label = element(line, "label", TITLES[name]);
    label.htmlFor = name;
    const select = element(line, "select");
    select.id = name;
    select.name = name;
    return select;
  }

  async function refresh() {
    state = await get("state");
    const percent = state.of ? Math.floor((100 * state.done) / state.of) : 100;
    const all = `${count(Object.keys(state.models).length, "model")}, ${count(state.tasks, "task")}, ${count(state.rows, "sample")}`;
    $("progress").textContent = state.finished ? all
      : `Reading: ${percent}% of ${Math.ceil(state.of / 1e6).toLocaleString("en")} MB. What is not read yet cannot be found.`;
    $("problems").hidden = !state.problems.length;
    $("problems").firstElementChild.textContent = `Not everything could be read (${state.problems.length})`;
    const lines = $("problems").lastElementChild;
    if (lines.children.length !== state.problems.length) {
      lines.replaceChildren();
      for (const line of state.problems) show(element(lines, "li"), line);
    }
    drawChoices();
  }

  async function watch() {
    while (!state.finished) {
      await new Promise((done) => setTimeout(done, 700));
      await refresh();
      if (list.items.length < list.page || state.finished) await loadList(true);
    }
  }

  // Events

  let typing = 0;

  function changed() {
    clearTimeout(typing);
    const [link] = $("text").value.match(/#\/\S*$|\bq\/[^\s?]+/) ?? [];
    if (link) {
      $("text").value = "";
      document.activeElement.blur();
      return go(read(link).path, read(link).query);
    }
    const query = new URLSearchParams();
    for (const name of ["text", ...FILTERS]) if ($(name).value.trim()) query.set(name, $(name).value.trim());
    go([], query);
  }

  $("filters").addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  $("filters").addEventListener("change", changed);
  $("text").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(changed, 350);
  });
  $("clear").addEventListener("click", () => {
    for (const name of ["text", ...FILTERS]) $(name).value = "";
    changed();
    $("text").focus();
  });
  function turn(by) {
    const query = filters();
    query.set("page", String(Math.floor(list.from / list.page) + 1 + by));
    go([], query);
    $("count").focus();
  }
  $("back").addEventListener("click", () => turn(-1));
  $("forward").addEventListener("click", () => turn(1));
  $("previous").addEventListener("click", () => trying(() => step(-1)));
  $("next").addEventListener("click", () => trying(() => step(1)));
  function leave() {
    go([], filters());
    const link = [...$("items").querySelectorAll("a")].find((each) => each.hasAttribute("aria-current"));
    setTimeout(() => (link ?? $("count")).focus(), 0);
  }
  $("close").addEventListener("click", leave);
  $("copy").addEventListener("click", () => trying(async () => {
    $("link").select();
    await navigator.clipboard.writeText($("link").value);
    $("copied").textContent = "Copied";
  }));
  $("languages").addEventListener("change", () => {
    beside([...$("languages").querySelectorAll("input:checked")].map((input) => input.value));
  });
  $("help-button").addEventListener("click", () => $("help").showModal());

  const KEYS = {
    j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1),
    "/": () => { $("text").focus(); $("text").select(); }, "?": () => $("help").showModal(),
    Escape: () => { if (place.path.length) leave(); },
  };

  document.addEventListener("keydown", (event) => {
    if ($("help").open || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const writing = event.target.matches("input:not([type=checkbox]), select, textarea");
    if (event.key === "Escape" && writing) return (place.path.length ? $("title") : $("count")).focus();
    if (writing || !$("keys").checked) return;
    const key = keyOf(event, KEYS);
    if (!Object.hasOwn(KEYS, key)) return;
    event.preventDefault();
    trying(async () => KEYS[key]());
  });

  addEventListener("hashchange", moved);
  trying(async () => {
    place = read(location.hash);
    await refresh();
    await moved();
    await watch();
  });
})();
