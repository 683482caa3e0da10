"use strict";
(() => {
  const { $ } = reading;
  const { address } = JSON.parse($("page").textContent);
  const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

  function shown() {
    const asked = new URLSearchParams(location.hash.split("?")[1] ?? "");
    const names = ["model", "criterion", "dataset", "language", "label"].filter((name) => asked.has(name));
    $("which").textContent = names.map((name) => `${name}: ${asked.get(name)}`).join(", ");
    // Its own folder is known to a page that is a file; on Windows a path begins with a drive.
    const folder = decodeURIComponent(location.pathname).replace(/\/[^/]*$/, "").replace(/^\/(?=[A-Za-z]:)/, "");
    const report = location.protocol === "file:" ? quoted(folder || "/") : "REPORT";
    const open = location.hash ? ` --open ${quoted(location.hash)}` : "";
    $("command").textContent = `xling view OUT --report ${report}${open}`;
    if (address) location.replace(address + location.hash);
  }

  $("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText($("command").textContent);
    $("copied").textContent = "Copied";
  });
  addEventListener("hashchange", shown);
  shown();
})();
