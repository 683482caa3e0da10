"use strict";
(() => {
  const { $, element, show, written, keyOf } = reading;
  const page = JSON.parse($("page").textContent);
  const STORE = `xling-annotate:${page.digest}`;
  const FORMAT = "xling-annotations";
  const VERSION = 1;
  // Another form of the page: scales for a translation in place of the check of a judge.
  const rating = page.made.form === "translation";
  // Its translations: of a run's answers into English, or of a dataset into another language.
  const answers = page.made.of === "answers";
  // Or our own prompts, which native speakers read and better.
  const texts = page.made.of === "texts";
  const scales = page.scales ?? [];
  const fields = rating ? scales.map((scale) => scale.key) : ["agree_label", "agree_reasoning", "label"];
  const remarks = texts ? ["better", "comment"] : ["comment"];
  let active = 0; // the scale that the digits rate
  const names = Object.fromEntries(page.languages.map((entry) => [entry.code, entry.name]));
  const labels = page.labels.map((entry) => entry.key);
  const wording = Object.fromEntries(page.labels.map((entry) => [entry.key, entry.wording]));
  const known = new Set(page.items.map((item) => item.id));
  const shown = page.items;
  let state = fresh();
  let unsaved = false;

  const blind = () => page.made.blind;

  // State: one entry per item, in the form in which it is exported.

  function fresh() {
    const nothing = () => Object.fromEntries([...fields.map((key) => [key, null]), ...remarks.map((key) => [key, ""])]);
    return { annotator: "", at: 0, items: new Map(page.items.map((item) => [item.id, nothing()])) };
  }

  function taken(item, entry) {
    const said = Object.fromEntries(remarks.map((key) => [key, typeof entry[key] === "string" ? entry[key].slice(0, 2000) : ""]));
    if (rating) {
      const step = (scale) => (Number.isInteger(entry[scale.key]) && scale.steps[entry[scale.key] - 1] ? entry[scale.key] : null);
      return { ...Object.fromEntries(scales.map((scale) => [scale.key, step(scale)])), ...said };
    }
    const flag = (value) => (typeof value === "boolean" ? value : null);
    const label = labels.includes(entry.label) ? entry.label : null;
    let agrees = flag(entry.agree_label);
    if (page.made.blind) agrees = label === null || agrees === null ? null : label === item.judge_label;
    return {
      agree_label: agrees,
      agree_reasoning: flag(entry.agree_reasoning),
      label: agrees === true ? item.judge_label : !page.made.blind && label === item.judge_label ? null : label,
      ...said,
    };
  }

  function entriesOf(items) {
    const by = new Map(items.map((entry) => [entry?.id, entry]));
    return new Map(page.items.filter((item) => by.has(item.id)).map((item) => [item.id, taken(item, by.get(item.id))]));
  }

  function restore(annotator, at, items) {
    state = fresh();
    state.annotator = typeof annotator === "string" ? annotator.slice(0, 80) : "";
    state.at = Number.isInteger(at) && at >= 0 && at < shown.length ? at : 0;
    for (const [id, entry] of entriesOf(items)) state.items.set(id, entry);
  }

  // What is kept in the browser.

  const key = () => STORE;

  function load() {
    state = fresh();
    try {
      const saved = JSON.parse(localStorage.getItem(key()));
      if (saved) restore(saved.annotator, saved.at, saved.items);
    } catch (error) {
      problem(`What this browser had saved cannot be read (${error.message}).`);
    }
  }

  function trying(act) {
    try {
      act();
      return true;
    } catch {
      return false;
    }
  }

  // Only the item that was changed is this tab's: of the others, what is kept may be another's.
  function save(changed = []) {
    const readable = trying(() => {
      const kept = entriesOf(JSON.parse(localStorage.getItem(key()))?.items ?? []);
      for (const [id, entry] of kept) if (!unsaved && !changed.includes(id)) state.items.set(id, entry);
    });
    // What cannot be read is put aside, not written over.
    if (!readable) trying(() => localStorage.setItem(`${key()}:unread`, localStorage.getItem(key())));
    const items = [...state.items].map(([id, entry]) => ({ id, ...entry }));
    const saved = JSON.stringify({ annotator: state.annotator, at: state.at, items });
    unsaved = !trying(() => localStorage.setItem(key(), saved));
    if (unsaved) problem("This browser does not save what you choose. Export the file before you close it.");
  }

  const here = () => shown[state.at];
  const mine = () => state.items.get(here().id);
  const verdictShown = () => !blind() || mine().agree_label !== null;
  const done = (item) => fields.every((field) => state.items.get(item.id)[field] !== null);
  const allDone = () => shown.filter(done).length;

  // Showing

  function text(id, content, language = "") {
    $(id).replaceChildren();
    written($(id), content, language);
  }

  function buildScale(scale) {
    element($("meanings"), "dt", scale.title);
    element($("meanings"), "dd", scale.question);
    const field = element($("scales"), "fieldset");
    field.id = `scale-${scale.key}`;
    const legend = element(field, "legend", `${scale.title}: ${scale.question} `);
    element(legend, "kbd", scale.key[0].toUpperCase()).setAttribute("aria-hidden", "true");
    scale.steps.forEach((step, place) => choice(field, scale.key, String(place + 1), `${place + 1} `, step));
  }

  // A radio button with its words; `wide` is what stands below them.
  function choice(field, name, value, words, wide) {
    const line = element(field, "label");
    Object.assign(element(line, "input"), { type: "radio", name, value });
    line.append(` ${words}`);
    if (name === "label") {
      const digit = String(labels.indexOf(value) + 1);
      line.firstChild.setAttribute("aria-keyshortcuts", digit);
      element(line, "kbd", digit).setAttribute("aria-hidden", "true");
    }
    element(line, "span", wide, name === "label" ? "soft" : "");
  }

  function build() {
    const kinds = { blind: page.made.blind, translation: rating, answers, texts };
    for (const [name, on] of Object.entries(kinds)) document.body.classList.toggle(name, Boolean(on));
    scales.forEach(buildScale);
    const ofPeople = page.labels.filter((label) => label.people).length;
    document.querySelectorAll(".of-people").forEach((node) => { node.textContent = ofPeople; });
    document.querySelectorAll(".of-judges").forEach((node) => { node.textContent = labels.length - ofPeople; });
    $("last-label").textContent = labels.length;
    for (const label of page.labels) {
      element($("meanings"), "dt", label.wording);
      element($("meanings"), "dd", label.meaning);
      choice($("own"), "label", label.key, `${label.wording} `, label.meaning);
    }
    for (const language of page.languages) {
      const button = element($("languages"), "button");
      button.type = "button";
      element(button, "span");
      element(button, "progress").setAttribute("aria-hidden", "true");
      button.addEventListener("click", () => {
        const own = (item) => item.language === language.code;
        const open = shown.findIndex((item) => own(item) && !done(item));
        go(open >= 0 ? open : shown.findIndex(own));
      });
    }
    if (page.made.blind) $("verdict").before($("own"), $("reveal-line"));
  }

  function render() {
    document.body.classList.toggle("blind", Boolean(blind()));
    const item = here();
    const title = `Item ${state.at + 1} of ${shown.length}: ${names[item.language]}, `;
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
    for (const name of remarks) $(name).value = mine()[name];
    if (texts) $("better").lang = item.language;
    $("annotator").value = state.annotator;
    $("previous").disabled = state.at === 0;
    $("next").disabled = state.at === shown.length - 1;
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
    $("agreement").hidden = blind();
    $("own").hidden = !blind() && entry.agree_label !== false;
    $("own").disabled = blind() && verdictShown();
    $("reveal").disabled = entry.label === null;
    $("reveal-line").hidden = verdictShown();
    for (const input of document.getElementsByName("label")) {
      input.parentElement.hidden = !blind() && input.value === here().judge_label;
    }
  }

  function progress() {
    page.languages.forEach((language, index) => {
      const button = $("languages").children[index];
      const own = shown.filter((item) => item.language === language.code);
      const [label, bar] = button.children;
      button.hidden = !own.length;
      Object.assign(bar, { max: own.length || 1, value: own.filter(done).length });
      label.textContent = `${language.name}: ${bar.value} of ${own.length}`;
      if (language.code === here().language) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    if ($("jump").length !== shown.length) {
      $("jump").replaceChildren();
      shown.forEach(() => element($("jump"), "option"));
    }
    shown.forEach((item, index) => {
      const mark = done(item) ? "\u2713 done" : "open";
      const place = `${index + 1}. ${names[item.language]}, ${item.dataset} ${item.question_id}`;
      $("jump").options[index].textContent = `${place} (${mark})`;
    });
    $("jump").selectedIndex = state.at;
    const now = done(here()) ? "This item is done" : "This item is open";
    $("status").textContent = `${now}. ${allDone()} of ${shown.length} items done.`;
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
    save([here().id]);
    choices();
    progress();
  }

  function agree(yes) {
    if (blind()) return;
    const other = mine().label === here().judge_label ? null : mine().label;
    set({ agree_label: yes, label: yes ? here().judge_label : other });
  }

  function choose(label) {
    if (!blind()) set({ label, agree_label: label === here().judge_label });
    else if (!verdictShown()) set({ label });
  }

  function reveal() {
    if (!blind() || mine().label === null || verdictShown()) return;
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
    if (index < 0 || index >= shown.length) return;
    state.at = index;
    save();
    render();
    $("place").focus({ preventScroll: true });
    $("place").scrollIntoView({ block: "start" });
  }

  function nextOpen() {
    for (let step = 1; step <= shown.length; step += 1) {
      const index = (state.at + step) % shown.length;
      if (!done(shown[index])) return go(index);
    }
    say(`All ${shown.length} items are done. Export the file.`);
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
    say(`Exported ${link.download}: ${allDone()} of ${shown.length} items done.`);
  }

  async function readFile(file) {
    const content = JSON.parse(await file.text());
    if (content?.format !== FORMAT || !Array.isArray(content.items)) throw new Error(`${file.name} is no export of such a page`);
    if (content.version !== VERSION) throw new Error(`its version is ${content.version}, this page reads ${VERSION}`);
    if (content.page_digest !== page.digest) throw new Error(`it belongs to page ${content.page_digest}, this is ${page.digest}`);
    if (content.items.some((item) => !known.has(item?.id))) throw new Error("it has items that this page has not");
    return { ...content, annotator: String(content.annotator ?? "") };
  }

  async function importFile(file) {
    try {
      const imported = await readFile(file);
      const started = [...state.items.values()].some((entry) => Object.values(entry).some((value) => value !== null && value !== ""));
      if (started && !confirm("Replace what is chosen here by the file's content?")) return;
      restore(imported.annotator, 0, imported.items);
      save([...known]);
      render();
      say(`Imported ${file.name}: ${allDone()} of ${shown.length} items done.`);
    } catch (error) {
      problem(`${file.name} was not imported: ${error.message}.`);
    }
  }

  function startOver() {
    if (!confirm("Forget all that was chosen on this page? Export first if you want to keep it.")) return;
    state = fresh();
    save([...known]);
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
    ...(rating ? {} : JUDGE_KEYS), c: () => $("comment").focus(), n: () => go(state.at + 1), p: () => go(state.at - 1), u: nextOpen,
  };
  labels.forEach((label, place) => { KEYS[place + 1] = () => choose(label); });
  scales.forEach((scale, place) => {
    KEYS[scale.key[0]] = () => turnTo(place);
    scale.steps.forEach((_, step) => { KEYS[step + 1] = () => rate(active, step + 1); });
  });

  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches("textarea, select, input[type=text]");
    if (event.key === "Escape" && writing) return $("place").focus({ preventScroll: true });
    if (writing || !$("keys").checked || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.isComposing || event.repeat) return;
    const pressed = keyOf(event, KEYS);
    if (!Object.hasOwn(KEYS, pressed)) return;
    event.preventDefault();
    KEYS[pressed]();
  });

  $("choices").addEventListener("change", ({ target }) => {
    const place = scales.findIndex((scale) => scale.key === target.name);
    if (place >= 0) rate(place, Number(target.value));
    if (target.name === "agree_label") agree(target.value === "yes");
    if (target.name === "agree_reasoning") judgeReasoning(target.value === "yes");
    if (target.name === "label") choose(target.value);
  });
  $("choices").addEventListener("submit", (event) => event.preventDefault());
  for (const name of remarks) {
    $(name).addEventListener("input", () => {
      mine()[name] = $(name).value;
      save([here().id]);
    });
  }
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
  $("unfinished").addEventListener("click", nextOpen);
  $("jump").addEventListener("change", () => go($("jump").selectedIndex));
  $("export").addEventListener("click", exportFile);
  for (const [id, act] of [["import", ([file]) => importFile(file)]]) {
    $(id).addEventListener("change", async () => {
      const files = [...$(id).files];
      if (files.length) await act(files);
      $(id).value = "";
    });
  }
  $("restart").addEventListener("click", startOver);
  addEventListener("storage", (event) => {
    if (event.key !== key()) return;
    const { at } = state;
    load();
    state.at = at;
    render();
  });
  addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

  build();
  load();
  render();
})();
