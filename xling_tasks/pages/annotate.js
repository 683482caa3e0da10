"use strict";
(() => {
  const { $, element, show, written, keyOf } = reading;
  const page = JSON.parse($("page").textContent);
  const STORE = `xling-annotate:${page.digest}`;
  const values = page.choices.map((choice) => choice.value);
  const entries = page.items.map(() => ({ label: "", comment: "" }));
  const keyed = new Map(page.items.map((item, index) => [`${item.task}\n${item.question_id}`, index]));
  let at = 0;

  // Storage: every change is written to the browser at once.
  function save() {
    try {
      localStorage.setItem(STORE, JSON.stringify({ at, annotator: $("annotator").value, entries }));
    } catch {
      tell("This browser does not save what you choose. Export the file before you close it.");
    }
  }
  function load() {
    try {
      const saved = JSON.parse(localStorage.getItem(STORE));
      if (!saved) return;
      saved.entries.forEach((entry, index) => take(index, entry));
      at = page.items[saved.at] ? saved.at : 0;
      $("annotator").value = saved.annotator;
    } catch (error) {
      tell(`What this browser had saved cannot be read (${error.message}).`);
    }
  }
  function take(index, { label, comment }) {
    if (entries[index]) entries[index] = { label: values.includes(label) ? label : "", comment: String(comment).slice(0, 2000) };
  }

  // CSV: one row per item, every cell quoted.
  function quote(cell) {
    const text = /^[=+\-@\t]/.test(cell) ? `'${cell}` : cell; // a spreadsheet would run it
    return `"${text.replaceAll('"', '""')}"`;
  }
  function csv() {
    const annotator = $("annotator").value.trim();
    const rows = page.items.map((item, index) => ({ ...page.about, ...item, ...entries[index], annotator }));
    return [page.columns, ...rows.map((row) => page.columns.map((name) => row[name] ?? ""))]
      .map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
  }
  function cells(text) {
    const rows = [[""]];
    const separator = /^[^\n]*;/.test(text) && !/^[^\n]*,/.test(text) ? ";" : ",";
    let quoted = false;
    for (let i = 0; i < text.length; i += 1) {
      const sign = text[i], row = rows.at(-1);
      if (quoted && sign === '"' && text[i + 1] === '"') row[row.length - 1] += text[(i += 1)];
      else if (sign === '"') quoted = !quoted;
      else if (!quoted && sign === separator) row.push("");
      else if (!quoted && sign === "\n") rows.push([""]);
      else if (quoted || sign !== "\r") row[row.length - 1] += sign;
    }
    return rows.filter((row) => row.length > 1);
  }
  async function bring(file) {
    const [head, ...rows] = cells((await file.text()).replace(/^\ufeff/, ""));
    const of = (row, name) => row[head.indexOf(name)] ?? "";
    const known = rows.filter((row) => keyed.has(`${of(row, "task")}\n${of(row, "question_id")}`) && of(row, "form") === page.about.form);
    if (!known.length) return tell(`${file.name} has no item of this page.`);
    for (const row of known) {
      const comment = of(row, "comment").replace(/^'(?=[=+\-@\t])/, "");
      take(keyed.get(`${of(row, "task")}\n${of(row, "question_id")}`), { label: of(row, "label"), comment });
    }
    $("annotator").value = of(known[0], "annotator") || $("annotator").value;
    tell("");
    save();
    draw();
  }
  function exported() {
    if (!$("annotator").value.trim()) {
      tell("Write your name or code first.");
      return $("annotator").focus();
    }
    tell("");
    const link = element(null, "a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", csv()], { type: "text/csv" }));
    link.download = `${page.about.form}_${$("annotator").value.trim().replace(/[^\p{L}\p{N}]+/gu, "_")}.csv`;
    link.click();
  }

  function tell(message) {
    $("problem").hidden = !message;
    $("problem").textContent = message;
  }
  function draw() {
    const item = page.items[at], entry = entries[at];
    const done = entries.filter((other) => other.label).length;
    $("status").textContent = `${done} of ${page.items.length} done`;
    $("place").textContent = `Item ${at + 1} of ${page.items.length}: ${item.language_name}, ${item.task}, ${item.question_id}`;
    $("texts").replaceChildren();
    for (const [title, text, language] of item.texts) {
      const section = element($("texts"), "section");
      element(section, "h3", title);
      written(element(section, "div", "", "text"), text, language);
    }
    for (const box of $("choices").querySelectorAll("input")) box.checked = box.value === entry.label;
    $("comment").value = entry.comment;
    $("judge").hidden = !item.judge_label || (page.blind && !entry.label);
    $("judge").replaceChildren();
    element($("judge"), "h3", `The judge: ${page.choices.find(({ value }) => value === item.judge_label)?.wording}`);
    written(element($("judge"), "div", "", "text"), item.judge_reply ?? "");
  }
  function go(index) {
    if (!page.items[index]) return;
    at = index;
    save();
    draw();
    $("place").focus();
  }
  function choose(value) {
    entries[at].label = value;
    save();
    draw();
  }
  function nextOpen() {
    const order = [...entries.keys()].map((index) => (at + 1 + index) % entries.length);
    go(order.find((index) => !entries[index].label) ?? at);
  }

  $("question").textContent = page.question;
  $("how").textContent = page.guide;
  page.choices.forEach(({ value, wording, meaning }, index) => {
    const label = element($("choices"), "label");
    const box = element(label, "input");
    Object.assign(box, { type: "radio", name: "label", value });
    box.addEventListener("change", () => choose(value));
    label.append(` ${wording} `);
    element(label, "kbd", String(index + 1)).setAttribute("aria-hidden", "true");
    if (meaning) {
      element($("meanings"), "dt", wording);
      element($("meanings"), "dd", meaning);
    }
  });
  const keys = { n: () => go(at + 1), p: () => go(at - 1), u: nextOpen };
  values.forEach((value, index) => { keys[index + 1] = () => choose(value); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("textarea, input[type=text]")) return;
    const act = keys[keyOf(event, keys)];
    if (act) { event.preventDefault(); act(); }
  });
  $("previous").addEventListener("click", keys.p);
  $("next").addEventListener("click", keys.n);
  $("open").addEventListener("click", nextOpen);
  $("comment").addEventListener("input", () => { entries[at].comment = $("comment").value; save(); });
  $("annotator").addEventListener("input", save);
  $("export").addEventListener("click", exported);
  $("import").addEventListener("change", () => bring($("import").files[0]));
  load();
  draw();
})();
