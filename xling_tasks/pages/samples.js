(() => {
  const { $, element, show, written, keyOf } = reading;
  const { groups, flags } = JSON.parse($("content").textContent);
  const state = new URLSearchParams(location.hash.slice(1));
  const FILTERS = ["model", "criterion", "dataset", "language", "label", "flag", "against", "sort"];
  const SIGNS = { good: "\u2713", partly: "\u25d0", bad: "\u2717", unsure: "?" };
  const SAID = { good: "good", partly: "partly good", bad: "bad", unsure: "not sure" };
  const AGAINST = {
    worse: ["worse than in English", (e, b) => b && b.score !== null && e.score !== null && b.score > e.score + 1e-9],
    lost: ["right in English, wrong here", (e, b) => b && b.right === true && e.right === false],
    gained: ["wrong in English, right here", (e, b) => b && b.right === false && e.right === true],
    label: ["another label than in English", (e, b) => b && b.label && e.label && b.label !== e.label],
  };
  const put = (node, text) => { node.replaceChildren(); return show(node, text); };
  const spaced = (key) => String(key).replaceAll("_", " ");
  const known = {}; // group -> its questions
  const waiting = new Map(); // file -> what waits for it
  let shown = [], at = -1, limit = 50, round = 0;

  // Files: each is a script that calls one of these.
  globalThis.rows = (group, content) => arrived(`${group}`, content);
  globalThis.texts = (group, chunk, content) => arrived(`${group}_${chunk}`, content);
  function arrived(name, content) { waiting.get(name)?.(content); waiting.delete(name); }
  function load(name) {
    return new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = element(document.body, "script");
      script.onload = () => script.remove();
      script.onerror = () => reject(new Error(`data/${name}.js is not there`));
      script.src = `data/${name}.js`;
    });
  }
  async function questions(group) {
    known[group] ??= (await load(`${group}`)).map((row, i) => ({ ...row, group, chunk: Math.floor(i / groups[group].chunk) }));
    return known[group];
  }

  // Filters
  function set(name, value) {
    value ? state.set(name, value) : state.delete(name);
    history.replaceState(null, "", `#${state}`);
  }
  const want = (name) => state.get(name) ?? "";
  function select(name, title, options) {
    let box = $(name);
    if (!box) {
      const label = element(null, "label", `${title} `);
      box = element(label, "select"); box.id = name;
      $("filters").append(label);
      box.onchange = () => { set(name, box.value); list(); };
    }
    box.replaceChildren(); element(box, "option", name === "sort" ? "as in the data" : "all").value = "";
    for (const [value, text] of options) element(box, "option", text).value = value;
    if (want(name) && ![...box.options].some((o) => o.value === want(name))) element(box, "option", spaced(want(name))).value = want(name);
    box.value = want(name);
    box.parentElement.hidden = options.length < 2 && !want(name) && !["sort", "flag"].includes(name);
  }
  const unique = (items) => [...new Map(items).entries()];
  function begin() {
    select("model", "Model", unique(groups.map((g) => [g.model, g.model])));
    select("criterion", "Criterion", unique(groups.map((g) => [g.criterion, g.title])));
    select("dataset", "Dataset", unique(groups.map((g) => [g.dataset, g.dataset_name])));
    select("language", "Language", unique(groups.flatMap((g) => Object.entries(g.languages))));
    select("label", "Label", []); select("flag", "Problem", []);
    select("against", "Against English", Object.entries(AGAINST).map(([key, [text]]) => [key, text]));
    select("sort", "Order", [["gap", "widest gap to English first"]]);
    $("text").value = want("text");
    let timer; $("text").oninput = () => { clearTimeout(timer); timer = setTimeout(() => { set("text", $("text").value); list(); }, 300); };
    $("filters").onsubmit = (event) => event.preventDefault();
    list().then(() => want("id") && open(shown.findIndex((row) => row.id === want("id"))));
  }

  // The list
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  function terms() {
    const parts = want("text").split('"');
    return parts.flatMap((part, i) => (i % 2 ? [part] : part.split(/\s+/))).map((w) => fold(w.trim())).filter(Boolean);
  }
  async function list() {
    const mine = ++round, fits = [], labels = new Set(), seen = new Set();
    const chosen = groups.map((_, i) => i).filter((i) => ["model", "criterion", "dataset"].every((n) => !want(n) || groups[i][n] === want(n)));
    try {
      for (const group of chosen) {
        const rows = await questions(group);
        if (mine !== round) return;
        for (const row of rows) {
          const base = row.languages.en;
          let fit = false;
          for (const [code, e] of Object.entries(row.languages)) {
            if (e.label) labels.add(e.label);
            e.flags.forEach((flag) => seen.add(flag));
            fit ||= (!want("language") || code === want("language")) && (!want("label") || e.label === want("label"))
              && (!want("flag") || e.flags.includes(want("flag"))) && (!want("against") || (code !== "en" && AGAINST[want("against")][1](e, base)));
          }
          if (fit) fits.push(row);
        }
      }
      select("label", "Label", [...labels].sort().map((l) => [l, spaced(l)]));
      select("flag", "Problem", [...seen].map((f) => [f, flags[f] ?? spaced(f)]));
      shown = await searched(fits, mine);
    } catch (error) { return put($("count"), `${error.message}: the page's folder is not complete. Run xling samples again.`); }
    if (mine !== round) return;
    if (want("sort") === "gap") shown = [...shown].sort((a, b) => (b.gap ?? -1e9) - (a.gap ?? -1e9));
    limit = 50; draw();
  }
  async function searched(fits, mine) {
    const sought = terms();
    if (!sought.length) return fits;
    const files = [...new Set(fits.map((row) => `${row.group}_${row.chunk}`))], hits = [];
    for (const [i, name] of files.entries()) {
      put($("count"), `Searching, ${i} of ${files.length} files`);
      const content = await load(name);
      if (mine !== round) return [];
      for (const row of fits) {
        if (`${row.group}_${row.chunk}` !== name) continue;
        const found = Object.entries(content[row.id]).some(([code, own]) => {
          if (want("language") && code !== want("language")) return false;
          const text = fold(own.parts.flatMap((part) => part[2].map((passage) => passage[0])).join("\n"));
          return sought.every((word) => text.includes(word));
        });
        if (found) hits.push(row);
      }
    }
    return hits;
  }
  function mark(node, e) {
    // Beside a label a whole number says the label again, or its rank.
    const bare = e.score === null || (e.label && Number.isInteger(e.score));
    const words = [spaced(e.label), bare ? "" : +e.score.toFixed(3), e.flags.map((f) => flags[f] ?? f).join(", ")].filter((w) => w !== "");
    // A good answer of which something is the matter, such as its language, is not simply good.
    const tone = e.flags.length && e.tone === "good" ? "partly" : e.tone || (e.flags.length ? "unsure" : "");
    const own = element(node, "span", "", `label ${tone}`);
    if (SIGNS[tone]) { element(own, "span", `${SIGNS[tone]} `).setAttribute("aria-hidden", "true"); element(own, "span", `${SAID[tone]}: `, "spoken"); }
    show(own, words.join(", "));
  }
  const about = (row) => [groups[row.group].title, groups[row.group].dataset_name, ...(groups.some((g) => g.model !== groups[0].model) ? [groups[row.group].model] : [])].filter(Boolean).join(", ");
  function draw() {
    const total = Object.values(groups).reduce((sum, g) => sum + g.n, 0);
    put($("count"), `${shown.length.toLocaleString("en")} of ${total.toLocaleString("en")} questions`);
    $("items").replaceChildren(); $("more").hidden = shown.length <= limit;
    shown.slice(0, limit).forEach((row, i) => {
      const item = element($("items"), "li"), button = element(item, "button", "", "item");
      button.type = "button"; button.onclick = () => open(i);
      written(element(button, "span", "", "head"), row.title || row.id);
      element(button, "span", about(row), "soft");
      const line = element(item, "p", "", "labels");
      for (const [code, e] of Object.entries(row.languages)) { const one = element(line, "span"); element(one, "b", `${groups[row.group].languages[code]} `); mark(one, e); }
    });
  }

  // One question
  async function open(i) {
    if (i < 0 || i >= shown.length) return;
    at = i; const row = shown[i], group = groups[row.group];
    set("id", row.id);
    const content = (await load(`${row.group}_${row.chunk}`))[row.id];
    element(put($("title"), `Question ${row.id}`), "small", ` ${about(row)}`);
    $("columns").replaceChildren();
    for (const [code, e] of Object.entries(row.languages)) {
      const box = element($("columns"), "article"); element(box, "h3", group.languages[code]);
      mark(element(box, "p"), e);
      for (const [title, note, passages] of content[code].parts) {
        element(box, "h4", title); if (note) show(element(box, "p", "", "soft"), note);
        for (const [text, more, said, tone, language] of passages) {
          if (said) { const line = element(box, "p", "", `label ${tone}`); if (SIGNS[tone]) element(line, "span", `${SIGNS[tone]} `).setAttribute("aria-hidden", "true"); show(line, said); }
          if (text || !said) written(element(box, "p", "", "text"), text || "(empty)", language, terms());
          if (more) element(box, "p", `\u2026 and ${more.toLocaleString("en")} more characters, in row ${content[code].row} of the samples of ${content[code].task}`, "soft");
        }
      }
      const fold = element(box, "details"); show(element(fold, "summary"), `Values (${content[code].task}, row ${content[code].row})`);
      const values = element(fold, "dl");
      for (const [name, value] of content[code].values) { show(element(values, "dt"), name); show(element(values, "dd"), value); }
    }
    $("question").hidden = false; $("list").hidden = true; $("previous").disabled = i === 0; $("next").disabled = i === shown.length - 1;
    scrollTo(0, 0); $("title").focus();
  }
  function close() { $("question").hidden = true; $("list").hidden = false; set("id", ""); $("items").children[at]?.querySelector("button").focus(); at = -1; }
  $("more").onclick = () => { limit += 50; draw(); };
  $("previous").onclick = () => open(at - 1); $("next").onclick = () => open(at + 1); $("close").onclick = close;
  const KEYS = { j: () => at >= 0 && open(at + 1), k: () => at >= 0 && open(at - 1), Escape: () => at >= 0 && close(), "/": () => $("text").focus() };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (/INPUT|SELECT/.test(event.target.tagName) && event.key !== "Escape")) return;
    const act = KEYS[keyOf(event, KEYS)];
    if (act) { event.preventDefault(); act(); }
  });
  addEventListener("hashchange", () => location.reload());
  begin();
})();
