// SPDX-License-Identifier: BSD-3-Clause
// Theme, tables that sort, paths in trees, and the start of the timeline.
"use strict";

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = {auto: "Theme: system", light: "Theme: light", dark: "Theme: dark"}[theme];
  button.setAttribute("aria-label", `${button.textContent}. Press to change.`);
  try { localStorage.setItem("steelyard-theme", theme); } catch (nowhere) { /* kept for this page only */ }
  if (window.steelyard) window.steelyard.restyle();
}

function sortTable(button) {
  const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
  const column = head.cellIndex, up = head.getAttribute("aria-sort") === "descending";
  const value = row => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const rows = [...body.rows].sort((a, b) => (up ? 1 : -1) * order(value(a), value(b)));
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  body.append(...rows);
}

// How the data come to the rank that is pointed at, in each picture of the same trees.
function showPath(node, shown) {
  for (const svg of node.closest(".pictures").querySelectorAll("svg")) {
    const same = svg.querySelector(`[data-rank="${node.dataset.rank}"]`);
    for (const marked of svg.querySelectorAll(".on")) marked.classList.remove("on");
    if (!same || !shown) continue;
    for (const rank of same.dataset.path.split(" ")) {
      svg.querySelector(`[data-rank="${rank}"] rect`).classList.add("on");
      const edge = svg.querySelector(`[data-to="${rank}"]`);
      if (edge) edge.classList.add("on");
    }
  }
}

function startTimeline() {
  const head = document.getElementById("timeline-head");
  if (!head) return;
  const {samples, moves, lines} = JSON.parse(head.textContent);
  const timeline = new Timeline(samples, moves, lines, [...document.querySelectorAll("canvas[data-chart]")]);
  window.steelyard = timeline;
  const status = document.getElementById("loading");
  let shown = 0;
  timeline.reading = timeline.samples.read([...document.querySelectorAll("script.block")], part => {
    if (part < 1 && performance.now() - shown < 400) return;
    shown = performance.now();
    status.textContent = part < 1 ? `reading ${Math.round(100 * part)} %` : "";
    timeline.redraw();
  }).catch(error => { status.textContent = `The timeline cannot be shown: ${error.message}`; throw error; });
  for (const button of document.querySelectorAll("[data-zoom]"))
    button.addEventListener("click", () => timeline.press(button.dataset.zoom));
  new ResizeObserver(() => timeline.resize()).observe(document.querySelector("main"));
}

document.addEventListener("DOMContentLoaded", () => {
  let theme = "auto";
  try { theme = localStorage.getItem("steelyard-theme") || "auto"; } catch (nowhere) { /* auto, then */ }
  setTheme(THEMES.includes(theme) ? theme : "auto");
  document.getElementById("theme").addEventListener("click", () =>
    setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]));
  for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => sortTable(button));
  for (const node of document.querySelectorAll(".tree .node")) {
    for (const [event, shown] of [["pointerenter", true], ["pointerleave", false], ["click", true]])
      node.addEventListener(event, () => showPath(node, shown));
  }
  startTimeline();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => window.steelyard && window.steelyard.restyle());
  // Paper is white, whatever the screen is.
  let before = null;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    if (window.steelyard) { for (const chart of window.steelyard.charts) chart.colours(); window.steelyard.draw(); }
  });
  addEventListener("afterprint", () => { if (before) setTheme(before); before = null; });
});
