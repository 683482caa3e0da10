"use strict";
(() => {
  // Texts on this page come from language models and are never markup: they reach the document
  // through textContent alone (show), and the page's policy forbids markup from strings.
  const page = JSON.parse(document.getElementById("page").textContent);
  const KEY = `xling-annotate:${page.digest}`;
  const FORMAT = "xling-annotations";
  const VERSION = 1;
  const { blind } = page.made;
  // Another form of the page: two scales for a translation in place of the check of a judge.
  const rating = page.made.form === "translation";
  // Its translations: of a run's answers into English, or of a dataset into another language.
  const answers = page.made.of === "answers";
  // Or our own prompts, which native speakers read and better.
  const texts = page.made.of === "texts";
  const scales = page.scales ?? [];
  let active = 0; // the scale that the digits rate
  const $ = (id) => document.getElementById(id);
  const names = Object.fromEntries(page.languages.map((entry) => [entry.code, entry.name]));
  const labels = page.labels.map((entry) => entry.key);
  const wording = Object.fromEntries(page.labels.map((entry) => [entry.key, entry.wording]));
  const known = new Set(page.items.map((item) => item.id));
  let state = fresh();
  let unsaved = false;

  // State: one entry per item, in the form in which it is exported.

  function fresh() {
    const open = rating ? scales.map((scale) => scale.key) : ["agree_label", "agree_reasoning", "label"];
    const remarks = texts ? { better: "", comment: "" } : { comment: "" };
    const nothing = () => ({ ...Object.fromEntries(open.map((key) => [key, null])), ...remarks });
    return { annotator: "", at: 0, items: new Map(page.items.map((item) => [item.id, nothing()])) };
  }

  const written = (value) => (typeof value === "string" ? value.slice(0, 2000) : "");
  const remark = (entry) => written(entry.comment);

  function rated(entry) {
    const step = (scale) => (Number.isInteger(entry[scale.key]) && scale.steps[entry[scale.key] - 1] ? entry[scale.key] : null);
    return { ...Object.fromEntries(scales.map((scale) => [scale.key, step(scale)])), ...(texts ? { better: written(entry.better) } : {}), comment: remark(entry) };
  }

  function taken(item, entry) {
    if (rating) return rated(entry);
    const flag = (value) => (typeof value === "boolean" ? value : null);
    const label = labels.includes(entry.label) ? entry.label : null;
    let agrees = flag(entry.agree_label);
    if (blind) agrees = label === null || agrees === null ? null : label === item.judge_label;
    return {
      agree_label: agrees,
      agree_reasoning: flag(entry.agree_reasoning),
      label: agrees === true ? item.judge_label : !blind && label === item.judge_label ? null : label,
      comment: remark(entry),
    };
  }

  function restore(annotator, at, items) {
    const entries = new Map(items.map((entry) => [entry.id, entry]));
    state = fresh();
    state.annotator = typeof annotator === "string" ? annotator.slice(0, 80) : "";
    state.at = Number.isInteger(at) && at >= 0 && at < page.items.length ? at : 0;
    for (const item of page.items) {
      if (entries.has(item.id)) state.items.set(item.id, taken(item, entries.get(item.id)));
    }
  }

  function load() {
    try {
      const saved = JSON.parse(localStorage.getItem(KEY));
      if (saved) restore(saved.annotator, saved.at, saved.items);
    } catch (error) {
      problem(`What this browser had saved cannot be read (${error.message}).`);
    }
  }

  function save() {
    const items = [...state.items].map(([id, entry]) => ({ id, ...entry }));
    try {
      localStorage.setItem(KEY, JSON.stringify({ annotator: state.annotator, at: state.at, items }));
      unsaved = false;
    } catch {
      unsaved = true;
      problem("This browser does not save what you choose. Export the file before you close it.");
    }
  }

  const here = () => page.items[state.at];
  const mine = () => state.items.get(here().id);
  const verdictShown = () => !blind || mine().agree_label !== null;

  function done(item) {
    const entry = state.items.get(item.id);
    if (rating) return scales.every((scale) => entry[scale.key] !== null);
    return entry.agree_label !== null && entry.agree_reasoning !== null && entry.label !== null;
  }

  // Showing

  const INVISIBLE =
    /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}])/u;

  function show(node, text) {
    node.replaceChildren();
    text.replaceAll("\r\n", "\n").split(INVISIBLE).forEach((part, index) => {
      if (index % 2 === 0) return node.append(part);
      const mark = node.appendChild(document.createElement("span"));
      mark.className = "control";
      mark.textContent = `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    });
  }

  function text(id, content, language) {
    if (language) $(id).lang = language;
    $(id).dir = "auto";
    show($(id), content);
  }

  function element(parent, name, content, className) {
    const node = parent.appendChild(document.createElement(name));
    if (content) node.textContent = content;
    if (className) node.className = className;
    return node;
  }

  function buildScale(scale) {
    element($("meanings"), "dt", scale.title);
    element($("meanings"), "dd", scale.question);
    const field = element($("scales"), "fieldset");
    field.id = `scale-${scale.key}`;
    const legend = element(field, "legend", `${scale.title}: ${scale.question} `);
    element(legend, "kbd", scale.key[0].toUpperCase()).setAttribute("aria-hidden", "true");
    scale.steps.forEach((step, place) => {
      const line = element(field, "label");
      const input = element(line, "input");
      Object.assign(input, { type: "radio", name: scale.key, value: String(place + 1) });
      line.append(` ${place + 1} `);
      element(line, "span", step);
    });
  }

  function build() {
    document.body.classList.toggle("blind", blind);
    document.body.classList.toggle("translation", rating);
    document.body.classList.toggle("answers", answers);
    document.body.classList.toggle("texts", texts);
    scales.forEach(buildScale);
    const ofPeople = page.labels.filter((label) => label.people).length;
    document.querySelectorAll(".of-people").forEach((node) => { node.textContent = ofPeople; });
    document.querySelectorAll(".of-judges").forEach((node) => { node.textContent = labels.length - ofPeople; });
    $("last-label").textContent = labels.length;
    for (const [place, label] of page.labels.entries()) {
      element($("meanings"), "dt", label.wording);
      element($("meanings"), "dd", label.meaning);
      const line = element($("own"), "label");
      const input = element(line, "input");
      Object.assign(input, { type: "radio", name: "label", value: label.key });
      line.append(` ${label.wording} `);
      input.setAttribute("aria-keyshortcuts", String(place + 1));
      element(line, "kbd", String(place + 1)).setAttribute("aria-hidden", "true");
      element(line, "span", label.meaning, "what");
    }
    for (const language of page.languages) {
      const button = element($("languages"), "button");
      button.type = "button";
      element(button, "span");
      const bar = element(button, "progress");
      bar.setAttribute("aria-hidden", "true");
      bar.max = page.items.filter((item) => item.language === language.code).length;
      button.addEventListener("click", () => {
        const own = (item) => item.language === language.code;
        const open = page.items.findIndex((item) => own(item) && !done(item));
        go(open >= 0 ? open : page.items.findIndex(own));
      });
    }
    page.items.forEach(() => element($("jump"), "option"));
    if (blind) $("verdict").before($("own"), $("reveal-line"));
  }

  function render() {
    const item = here();
    const title = `Item ${state.at + 1} of ${page.items.length}: ${names[item.language]}, `;
    $("place").textContent = `${title}${item.dataset}, question ${item.question_id}`;
    if (rating) {
      text("reference", item.source, answers ? item.language : "en");
      text("answer", item.translation, answers ? "en" : item.language);
      active = Math.max(0, scales.findIndex((scale) => mine()[scale.key] === null));
    } else {
      text("question", item.question, item.language);
      text("reference", item.reference, item.language);
      text("answer", item.answer, item.language);
      $("judge-label").textContent = wording[item.judge_label];
      text("reply", item.reply);
    }
    $("comment").value = mine().comment;
    if (texts) {
      $("better").value = mine().better;
      Object.assign($("better"), { lang: item.language });
    }
    $("annotator").value = state.annotator;
    $("previous").disabled = state.at === 0;
    $("next").disabled = state.at === page.items.length - 1;
    choices();
    progress();
  }

  function choices() {
    const entry = mine();
    const pick = (name, value) => {
      for (const input of document.getElementsByName(name)) input.checked = input.value === value;
    };
    scales.forEach((scale, place) => {
      pick(scale.key, String(entry[scale.key] ?? ""));
      $(`scale-${scale.key}`).classList.toggle("active", place === active);
    });
    if (rating) return;
    const word = (flag) => (flag === null ? "" : flag ? "yes" : "no");
    pick("agree_label", word(entry.agree_label));
    pick("agree_reasoning", word(entry.agree_reasoning));
    pick("label", entry.label ?? "");
    $("verdict").hidden = !verdictShown();
    $("reasoning").hidden = !verdictShown();
    $("agreement").hidden = blind;
    $("own").hidden = !blind && entry.agree_label !== false;
    $("own").disabled = blind && verdictShown();
    $("reveal").disabled = entry.label === null;
    $("reveal-line").hidden = verdictShown();
    for (const input of document.getElementsByName("label")) {
      input.parentElement.hidden = !blind && input.value === here().judge_label;
    }
  }

  function progress() {
    page.languages.forEach((language, index) => {
      const own = page.items.filter((item) => item.language === language.code);
      const [label, bar] = $("languages").children[index].children;
      bar.value = own.filter(done).length;
      label.textContent = `${language.name}: ${bar.value} of ${own.length}`;
      const button = $("languages").children[index];
      if (language.code === here().language) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    page.items.forEach((item, index) => {
      const mark = done(item) ? "\u2713 done" : "open";
      const place = `${index + 1}. ${names[item.language]}, ${item.dataset} ${item.question_id}`;
      $("jump").options[index].textContent = `${place} (${mark})`;
    });
    $("jump").selectedIndex = state.at;
    const all = page.items.filter(done).length;
    const now = done(here()) ? "This item is done" : "This item is open";
    $("status").textContent = `${now}. ${all} of ${page.items.length} items done.`;
  }

  function problem(message) {
    $("problem").textContent = message;
    $("problem").hidden = !message;
  }

  function say(message) {
    problem("");
    $("status").textContent = message;
  }

  // Choosing

  function set(change) {
    state.items.set(here().id, { ...mine(), ...change });
    save();
    choices();
    progress();
  }

  function agree(yes) {
    if (blind) return;
    const other = mine().label === here().judge_label ? null : mine().label;
    set({ agree_label: yes, label: yes ? here().judge_label : other });
  }

  function choose(label) {
    if (!blind) set({ label, agree_label: label === here().judge_label });
    else if (!verdictShown()) set({ label });
  }

  function reveal() {
    if (!blind || mine().label === null || verdictShown()) return;
    set({ agree_label: mine().label === here().judge_label });
  }

  function judgeReasoning(yes) {
    if (verdictShown()) set({ agree_reasoning: yes });
  }

  function turnTo(place) {
    active = place;
    choices();
  }

  function rate(place, value) {
    if (!scales[place].steps[value - 1]) return;
    active = Math.min(place + 1, scales.length - 1);
    set({ [scales[place].key]: value });
  }

  function go(index) {
    if (index < 0 || index >= page.items.length) return;
    state.at = index;
    save();
    render();
    $("place").focus({ preventScroll: true });
    $("place").scrollIntoView({ block: "start" });
  }

  function nextUnfinished() {
    const n = page.items.length;
    for (let step = 1; step <= n; step += 1) {
      const index = (state.at + step) % n;
      if (!done(page.items[index])) return go(index);
    }
    say(`All ${n} items are done. Export the file.`);
  }

  // Files

  function origin({ id, task, dataset, language, question_id, judge_label }) {
    if (rating) return { id, dataset, language, question_id };
    return { id, task, language, question_id, judge_label };
  }

  function exported() {
    return {
      format: FORMAT, version: VERSION, page_digest: page.digest,
      annotator: state.annotator.trim(), ...page.made,
      items: page.items.map((item) => ({ ...origin(item), ...state.items.get(item.id) })),
    };
  }

  function exportFile() {
    if (!state.annotator.trim()) {
      problem("Write your name or code first; it tells the files of several people apart.");
      return $("annotator").focus();
    }
    const content = `${JSON.stringify(exported(), null, 2)}\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    const who = [...state.annotator.trim().replace(/[^\p{L}\p{N}]+/gu, "-")].slice(0, 60).join("");
    link.download = `annotations_${who}_${page.digest}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    const all = page.items.filter(done).length;
    say(`Exported ${link.download}: ${all} of ${page.items.length} items done.`);
  }

  async function importFile(file) {
    try {
      const imported = JSON.parse(await file.text());
      if (imported?.format !== FORMAT || !Array.isArray(imported.items)) throw new Error("it is no export of such a page");
      if (imported.version !== VERSION) throw new Error(`its version is ${imported.version}, this page reads ${VERSION}`);
      if (imported.page_digest !== page.digest) throw new Error(`it belongs to page ${imported.page_digest}, this is ${page.digest}`);
      if (imported.items.some((item) => !known.has(item?.id))) throw new Error("it has items that this page has not");
      const started = [...state.items.values()].some((entry) => Object.values(entry).some((value) => value !== null && value !== ""));
      if (started && !confirm("Replace what is chosen here by the file's content?")) return;
      restore(imported.annotator, 0, imported.items);
      save();
      render();
      say(`Imported ${file.name}: ${page.items.filter(done).length} of ${page.items.length} items done.`);
    } catch (error) {
      problem(`${file.name} was not imported: ${error.message}.`);
    }
  }

  function startOver() {
    if (!confirm("Forget all that was chosen on this page? Export first if you want to keep it.")) return;
    state = fresh();
    save();
    render();
    say("Nothing is chosen now.");
    $("annotator").focus();
  }

  // Events

  const JUDGE_KEYS = {
    a: () => agree(true), d: () => agree(false), v: () => $("reveal").click(),
    s: () => judgeReasoning(true), f: () => judgeReasoning(false),
  };
  const KEYS = {
    ...(rating ? {} : JUDGE_KEYS), c: () => $("comment").focus(), n: () => go(state.at + 1), p: () => go(state.at - 1), u: nextUnfinished,
  };
  labels.forEach((label, place) => { KEYS[place + 1] = () => choose(label); });
  scales.forEach((scale, place) => {
    KEYS[scale.key[0]] = () => turnTo(place);
    scale.steps.forEach((_, step) => { KEYS[step + 1] = () => rate(active, step + 1); });
  });

  // The letter of a key, also on keyboards of other scripts, where its place decides.
  function keyOf(event) {
    const latin = /^[\x21-\x7e]$/.test(event.key);
    return latin ? event.key.toLowerCase() : event.code.replace(/^(Key|Digit|Numpad)/, "").toLowerCase();
  }

  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches("textarea, select, input[type=text]");
    if (event.key === "Escape" && writing) return $("place").focus({ preventScroll: true });
    if (writing || !$("keys").checked || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.isComposing || event.repeat) return;
    const act = Object.hasOwn(KEYS, keyOf(event)) ? KEYS[keyOf(event)] : null;
    if (act) {
      event.preventDefault();
      act();
    }
  });

  $("choices").addEventListener("change", ({ target }) => {
    const place = scales.findIndex((scale) => scale.key === target.name);
    if (place >= 0) rate(place, Number(target.value));
    if (target.name === "agree_label") agree(target.value === "yes");
    if (target.name === "agree_reasoning") judgeReasoning(target.value === "yes");
    if (target.name === "label") choose(target.value);
  });
  $("choices").addEventListener("submit", (event) => event.preventDefault());
  $("comment").addEventListener("input", () => {
    mine().comment = $("comment").value;
    save();
  });
  $("better").addEventListener("input", () => {
    mine().better = $("better").value;
    save();
  });
  $("annotator").addEventListener("input", () => {
    state.annotator = $("annotator").value;
    problem("");
    save();
  });
  $("reveal").addEventListener("click", () => {
    reveal();
    $("verdict-title").focus();
  });
  $("previous").addEventListener("click", () => go(state.at - 1));
  $("next").addEventListener("click", () => go(state.at + 1));
  $("unfinished").addEventListener("click", nextUnfinished);
  $("jump").addEventListener("change", () => go($("jump").selectedIndex));
  $("export").addEventListener("click", exportFile);
  $("import").addEventListener("change", async () => {
    const [file] = $("import").files;
    if (file) await importFile(file);
    $("import").value = "";
  });
  $("restart").addEventListener("click", startOver);
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    const { at } = state;
    load();
    state.at = at;
    render();
  });
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  build();
  load();
  render();
  $("guide").open = !state.annotator;
})();
