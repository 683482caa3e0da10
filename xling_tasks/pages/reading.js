"use strict";
// What the pages share on which people read texts of models: samples, and annotation.
const reading = (() => {
  const $ = (id) => document.getElementById(id);

  function element(parent, name, content = "", className = "") {
    const node = document.createElement(name);
    if (content) node.textContent = content;
    if (className) node.className = className;
    if (parent) parent.append(node);
    return node;
  }

  // Texts are never markup: they reach the document through textContent alone, and the policy of
  // the pages forbids markup from strings. What does not show, or turns directions, is named.
  const INVISIBLE =
    /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e007f}])/u;

  function show(node, text, words = []) {
    text.replaceAll("\r\n", "\n").split(INVISIBLE).forEach((part, index) => {
      if (index % 2 === 0) return marked(node, part, words);
      element(node, "span", `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`, "control");
    });
    return node;
  }

  function marked(node, text, words) {
    const folded = text.toLowerCase();
    let from = 0;
    while (words.length && folded.length === text.length) {
      const hits = words.map((word) => [folded.indexOf(word, from), word]).filter(([at]) => at >= 0);
      if (!hits.length) break;
      const [at, word] = hits.sort((a, b) => a[0] - b[0])[0];
      node.append(text.slice(from, at));
      element(node, "mark", text.slice(at, at + word.length));
      from = at + word.length;
    }
    node.append(text.slice(from));
  }

  // A text runs as most of its letters do, wherever it begins: an Arabic one whose first word is the
  // Latin name of a drug has its full stops and numbers in their places only from right to left. Latin
  // names and units are long, so fewer than half decide. The ranges are Unicode's for such scripts.
  const LEFTWARDS = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

  function direction(text) {
    const letters = text.slice(0, 20000).match(/\p{L}/gu) ?? [];
    return letters.filter((letter) => LEFTWARDS.test(letter)).length > 0.4 * letters.length ? "rtl" : "ltr";
  }

  // A text of its own, in a language and in its direction.
  function written(node, text, language = "", words = []) {
    Object.assign(node, { lang: language, dir: direction(text) });
    return show(node, text, words);
  }

  // What a key means: its letter or digit, on every keyboard that has Latin ones (Dvorak, AZERTY); its
  // place on one of another script, and for digits that need Shift (AZERTY again).
  function keyOf({ key, code = "" }, keys) {
    const label = key.length > 1 ? key : key.toLowerCase();
    if (Object.hasOwn(keys, label) || /^[a-z0-9]$/.test(label)) return label;
    const place = code.replace(/^(Key|Digit|Numpad)/, "").replace("Slash", "/").toLowerCase();
    const other = /[^\x00-\x7f]/.test(label) || ["Dead", "Process", "Unidentified"].includes(key);
    return other || /^[0-9]$/.test(place) ? place : label;
  }

  return { $, element, show, direction, written, keyOf };
})();
