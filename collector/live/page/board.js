// The board: units as rows, behaviors as columns, states live.

import { Rows } from "./rows.js";
import { RESULTS, ofLetter, show, spoken, tile, word } from "./results.js";
import { count, h, line, plural, put, setAttribute, span } from "./text.js";

const WIDE_CELL = 104;
const ROOMY_CELL = 62;
const PHONE = window.matchMedia("(max-width: 640px)");
const FLASH = 900;
const PAUSE = 100;
const URGENT = 20;
const RANK = { fail: 0, error: 1, unknown: 2, pass: 3, not_applicable: 4 };
const SORTS = {
  newest: ["Newest first", (a, b) => b.number - a.number],
  active: ["Last active first", (a, b) => b.last_ms - a.last_ms || b.number - a.number],
  worst: ["Worst first", (a, b) => RANK[a.verdict.result] - RANK[b.verdict.result] || b.number - a.number],
};

export class Board {
  constructor(store, kind, memory, go) {
    Object.assign(this, { store, kind, memory, go });
    this.list = [];
    this.columns = [];
    this.due = 0;
    this.refreshed = 0;
    this.pause = PAUSE;
    this.element = this.build();
    this.rows = new Rows({
      scroller: this.grid,
      body: this.body,
      create: () => this.createRow(),
      update: (row, index) => this.updateRow(row, this.list[index]),
      height: () => (PHONE.matches ? 66 : 34),
      head: () => this.header.offsetHeight,
      open: (index, target) => this.open(index, target),
      moved: (index) => (this.memory.active = this.list[index]?.id),
    });
    this.stop = store.listen((what) => this.heard(what));
    this.ticking = setInterval(() => this.rows.draw(), 1000);
    this.resized = new ResizeObserver(() => this.layOut());
    this.resized.observe(this.grid);
    this.reshape();
    requestAnimationFrame(() => this.restore());
  }

  dispose() {
    this.memory.scroll = this.grid.scrollTop;
    this.stop();
    clearInterval(this.ticking);
    clearTimeout(this.due);
    this.resized.disconnect();
    this.rows.dispose();
  }

  restore() {
    if (this.memory.scroll) this.grid.scrollTop = this.memory.scroll;
    const active = this.list.findIndex((unit) => unit.id === this.memory.active);
    if (active >= 0) this.rows.activate(active);
    if (active >= 0) this.grid.focus({ preventScroll: true });
  }

  build() {
    const noun = this.kind === "job" ? "jobs" : "sessions";
    this.search = h("input", { type: "search", id: "search", placeholder: `Find ${noun}  ( / )`, "aria-label": `Find ${noun} by id`, autocomplete: "off", spellcheck: "false" });
    this.search.value = this.memory.text ?? "";
    this.search.addEventListener("input", () => this.filter({ text: this.search.value }));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        this.grid.focus();
        if (this.rows.active < 0) this.rows.activate(0);
      }
    });
    this.chips = h("div.chips", { role: "group", "aria-label": "Show only" });
    this.chip = new Map();
    for (const name of ["all", ...RESULTS, "open"]) {
      const number = h("span.number");
      const button = h("button", { type: "button", "aria-pressed": "false", "data-filter": name, onclick: () => this.filter({ only: name }) });
      if (RESULTS.includes(name)) {
        const sign = tile();
        show(sign, { result: name, final: true });
        button.append(sign);
      }
      button.append(h("span", {}, name === "not_applicable" ? "n/a" : name), number);
      this.chip.set(name, { button, number });
      this.chips.append(button);
    }
    this.sort = h("select", { "aria-label": "Order" }, ...Object.entries(SORTS).map(([value, [text]]) => h("option", { value }, text)));
    this.sort.value = this.memory.sort ?? "newest";
    this.sort.addEventListener("change", () => this.filter({ sort: this.sort.value }));
    this.header = h("div.head", { role: "rowgroup" });
    this.body = h("div.body", { role: "rowgroup" });
    this.grid = h("div.grid.board", { role: "grid", tabindex: "0", "aria-label": `${noun} by behaviors`, "aria-multiselectable": "false" }, this.header, this.body);
    this.note = h("p.empty", { hidden: true });
    const title = h("h1.unseen", {}, this.kind === "job" ? "Jobs" : "Sessions");
    return h("section.view", { "aria-label": noun }, title, h("div.bar", {}, this.search, this.chips, this.sort), this.note, this.grid);
  }

  filter(change) {
    Object.assign(this.memory, change);
    this.grid.scrollTop = 0;
    this.refresh();
  }

  heard(what) {
    if (what.kind === "synced") this.reshape();
    else if (what.kind === "result" || what.kind === "units" || what.kind === "gone") {
      const unit = what.unit ?? what.result?.unit ?? what.units[0];
      const urgent = what.result?.final && what.result.result === "fail";
      if (unit.kind === this.kind || what.units?.length > 1) this.later(urgent ? URGENT : PAUSE);
    }
  }

  /** Refresh at once, unless the last time is less than `pause` ms ago: then when it is. */
  later(pause) {
    if (this.due && pause >= this.pause) return;
    clearTimeout(this.due);
    this.pause = pause;
    this.due = setTimeout(() => this.refresh(), Math.max(0, this.refreshed + pause - performance.now()));
  }

  reshape() {
    this.columns = this.store.head?.behaviors[`${this.kind}s`] ?? [];
    const names = this.columns.map((column, index) =>
      h("div.name", { role: "columnheader", title: line(column.name), "aria-colindex": index + 5 }, h("span", {}, line(column.name, 120)), column.severity === "warn" ? h("small", {}, "warn") : null),
    );
    this.header.replaceChildren(
      h("div.row", { role: "row", "aria-rowindex": 1 },
        h("div.verdict", { role: "columnheader" }, h("span.unseen", {}, "Verdict")),
        h("div.id", { role: "columnheader" }, this.kind === "job" ? "Job" : "Session"),
        h("div.items", { role: "columnheader" }, "Items"),
        h("div.last", { role: "columnheader" }, "Last item"),
        ...names,
      ),
    );
    this.grid.setAttribute("aria-colcount", this.columns.length + 4);
    this.rows.rebuild();
    this.layOut();
    this.refresh();
  }

  /** Cells with words while there is room for them, else signs under names, else signs under upright names. */
  layOut() {
    const room = this.grid.clientWidth - 420;
    const each = this.columns.length ? room / this.columns.length : 0;
    this.grid.classList.toggle("wide", each >= WIDE_CELL);
    this.grid.classList.toggle("roomy", each >= ROOMY_CELL && each < WIDE_CELL);
    this.grid.style.setProperty("--columns", this.columns.length);
    const longest = Math.max(0, ...this.columns.map((column) => column.name.length));
    this.grid.style.setProperty("--names", `${Math.min(168, 28 + longest * 6)}px`);
  }

  refresh() {
    clearTimeout(this.due);
    this.due = 0;
    this.refreshed = performance.now();
    const { text = "", only = "all", sort = "newest" } = this.memory;
    const needle = text.toLowerCase();
    const numbers = Object.fromEntries([...this.chip.keys()].map((name) => [name, 0]));
    const list = [];
    for (const unit of this.store.units.values()) {
      if (unit.kind !== this.kind || (needle && !unit.id.toLowerCase().includes(needle))) continue;
      numbers.all++;
      numbers[unit.verdict.result]++;
      if (unit.state === "open") numbers.open++;
      if (only === "all" || unit.verdict.result === only || (only === "open" && unit.state === "open")) list.push(unit);
    }
    list.sort(SORTS[sort][1]);
    const active = this.list[this.rows.active]?.id;
    this.list = list;
    for (const [name, { button, number }] of this.chip) {
      put(number, count(numbers[name]));
      setAttribute(button, "aria-pressed", name === only ? "true" : "false");
      button.hidden = numbers[name] === 0 && name !== "all" && name !== only;
    }
    if (active !== undefined) this.rows.active = list.findIndex((unit) => unit.id === active);
    this.tellEmpty(numbers.all, needle || only !== "all");
    this.rows.resize(list.length);
  }

  tellEmpty(total, filtered) {
    this.note.hidden = this.list.length > 0;
    this.grid.hidden = this.list.length === 0;
    if (!this.note.hidden) {
      const noun = this.kind === "job" ? "job" : "session";
      if (!this.store.ready) put(this.note, "Waiting for the server …");
      else if (filtered) put(this.note, `No ${noun} matches the filter.`);
      else if (total === 0) put(this.note, `No ${noun} yet. Point an agent's OTLP exporter here; its ${noun} shows up with its first item.`);
    }
  }

  createRow() {
    const cells = this.columns.map((_, index) => h("div.cell", { role: "gridcell", "data-column": index }, tile(), h("span.word")));
    return h("div.row", { role: "row" },
      h("div.verdict", { role: "gridcell" }, tile()),
      h("div.id", { role: "rowheader" }, h("bdi"), h("small")),
      h("div.items", { role: "gridcell" }),
      h("div.last", { role: "gridcell" }),
      h("div.cells", { role: "presentation" }, ...cells),
    );
  }

  updateRow(row, unit) {
    const [verdict, id, items, last, cells] = row.children;
    show(verdict.firstElementChild, unit.verdict);
    setAttribute(verdict, "aria-label", spoken(unit.verdict));
    put(id.firstElementChild, line(unit.id, 200));
    setAttribute(id, "title", line(unit.id, 1000));
    const remarks = [unit.state === "open" ? "open" : null, unit.cut ? "cut" : null, unit.reopened ? "reopened" : null];
    put(id.lastElementChild, remarks.filter(Boolean).join(" · "));
    put(items, PHONE.matches ? plural(unit.items, "item") : count(unit.items));
    put(last, span(this.store.now() - unit.last_ms));
    row.classList.toggle("closed", unit.state === "closed");
    for (let index = 0; index < cells.children.length; index++) {
      const cell = cells.children[index];
      const outcome = ofLetter(unit.cells[index] ?? "u");
      const revised = unit.revised.includes(index);
      show(cell.firstElementChild, outcome, revised);
      put(cell.lastElementChild, word(outcome));
      const said = `${line(this.columns[index].name, 120)}: ${spoken(outcome, revised)}`;
      setAttribute(cell, "aria-label", said);
      setAttribute(cell, "title", said);
      cell.classList.toggle("changed", this.store.changedLately(unit, index, FLASH));
    }
  }

  open(index, target) {
    const unit = this.list[index];
    const column = target?.closest(".cell")?.dataset.column;
    const behavior = column === undefined ? "" : this.columns[Number(column)].name;
    this.go(unit.kind, unit.id, behavior);
  }
}
