// The timeline: items in order, read in pages as they come into sight, with the evidence of results marked.

import { get } from "./api.js";
import { Rows } from "./rows.js";
import { show, spoken, tile } from "./results.js";
import { count, duration, h, line, plural, put, setAttribute, symbol } from "./text.js";

const PAGE = 100;
const PAGES_KEPT = 60;
const AT_ONCE = 2;
const PHONE = window.matchMedia("(max-width: 640px)");

export class Timeline {
  constructor(store, path, open, problem) {
    Object.assign(this, { store, path, openItem: open, problem });
    this.outcomes = new Map();
    this.behavior = "";
    this.only = false;
    this.text = "";
    this.kind = "";
    this.total = 0;
    this.epoch = 0;
    this.pages = new Map();
    this.reading = new Map();
    this.evidence = [];
    this.origin = null;
    this.following = false;
    this.awaited = null;
    this.element = this.build();
    this.rows = new Rows({
      scroller: this.grid,
      body: this.body,
      create: () => this.createRow(),
      update: (row, index) => this.updateRow(row, index),
      height: () => (PHONE.matches ? 50 : 28),
      open: (index) => this.open(index),
      inSight: (from, to) => this.want(from, to),
    });
    this.grid.addEventListener("scroll", () => this.noteFollowing(), { passive: true });
  }

  dispose() {
    clearTimeout(this.typing);
    for (const asked of this.reading.values()) asked.abort();
    this.rows.dispose();
  }

  build() {
    this.search = h("input", { type: "search", id: "search", placeholder: "Find in the timeline  ( / )", "aria-label": "Find in the timeline", autocomplete: "off", spellcheck: "false" });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.filter({ text: this.search.value }), 200);
    });
    this.kinds = h("select", { "aria-label": "Kind of item" }, ...[["", "All items"], ["tool", "Tool calls"], ["approval", "Approvals"], ["event", "Events"]].map(([value, text]) => h("option", { value }, text)));
    this.kinds.addEventListener("change", () => this.filter({ kind: this.kinds.value }));
    this.onlyBox = h("input", { type: "checkbox", onchange: () => this.filter({ only: this.onlyBox.checked }) });
    this.onlyLabel = h("label.only", { hidden: true }, this.onlyBox, "only evidence");
    this.size = h("span.size", { "aria-live": "off" });
    this.body = h("div.body", { role: "rowgroup" });
    const names = ["Seq", "Time", "Turn", "Item", "Status", "Evidence"];
    const head = h("div.head.unseen", { role: "rowgroup" }, h("div", { role: "row", "aria-rowindex": 1 }, ...names.map((name) => h("span", { role: "columnheader" }, name))));
    this.grid = h("div.grid.timeline", { role: "grid", tabindex: "0", "aria-label": "Timeline" }, head, this.body);
    this.ruler = h("div.ruler", { "aria-hidden": "true", onclick: (event) => this.jump(event) });
    this.note = h("p.empty", { hidden: true });
    return h("div.stage", {}, h("div.bar", {}, this.search, this.kinds, this.onlyLabel, this.size), this.note, h("div.scrolled", {}, this.grid, this.ruler));
  }

  query() {
    const query = new URLSearchParams();
    if (this.text) query.set("q", this.text);
    if (this.kind) query.set("kind", this.kind);
    if (this.only && this.behavior) query.set("behavior", this.behavior);
    return query;
  }

  filter(change) {
    Object.assign(this, change);
    this.grid.scrollTop = 0;
    this.rows.active = -1;
    this.pages.clear();
    this.changed();
  }

  select(behavior) {
    const other = behavior !== this.behavior;
    this.behavior = behavior;
    this.onlyLabel.hidden = !behavior;
    if (!behavior && this.only) {
      this.onlyBox.checked = false;
      this.filter({ only: false });
    } else if (other && this.only) this.filter({});
    this.readEvidence();
    this.rows.draw();
  }

  /** The unit has changed: what is in sight is read again, what is shown stays until then. */
  changed() {
    this.epoch++;
    this.readEvidence();
    if (this.total === 0) this.read(0);
    else this.rows.draw();
  }

  want(from, to) {
    const first = Math.floor(from / PAGE);
    const last = Math.max(first, Math.floor((to - 1) / PAGE));
    for (const [page, asked] of this.reading) {
      if (page < first || page > last) {
        asked.abort();
        this.reading.delete(page);
      }
    }
    for (let page = first; page <= last; page++) {
      const kept = this.pages.get(page);
      if ((!kept || kept.epoch !== this.epoch) && !this.reading.has(page) && this.reading.size < AT_ONCE) this.read(page);
    }
  }

  async read(page) {
    if (this.reading.has(page)) return;
    const asked = new AbortController();
    this.reading.set(page, asked);
    const epoch = this.epoch;
    const query = this.query();
    query.set("from", page * PAGE);
    query.set("limit", PAGE);
    try {
      const answer = await get(`${this.path}/items?${query}`, asked.signal);
      this.take(page, epoch, answer);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (this.reading.get(page) === asked) this.reading.delete(page);
      if (error.status !== 404) this.problem(line(error.message));
      return;
    }
    if (this.reading.get(page) === asked) this.reading.delete(page);
    this.rows.draw();
  }

  take(page, epoch, answer) {
    this.pages.delete(page);
    this.pages.set(page, { epoch, items: answer.items });
    while (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
    if (page === 0 && answer.items.length && !this.query().size) this.origin = answer.items[0].time_ms;
    const follow = this.following && answer.total > this.total;
    this.total = answer.total;
    const filtered = this.query().size > 0;
    put(this.size, filtered ? plural(this.total, "match", "matches") : plural(this.total, "item"));
    this.note.hidden = this.total > 0;
    put(this.note, filtered ? "Nothing in the timeline matches." : "No items yet.");
    this.rows.resize(this.total);
    if (follow) this.rows.toEnd();
    if (this.awaited !== null && this.awaited < this.total) this.goTo(this.awaited);
  }

  item(index) {
    return this.pages.get(Math.floor(index / PAGE))?.items[index % PAGE];
  }

  createRow() {
    return h("div.row", { role: "row" },
      h("span.seq", { role: "gridcell" }),
      h("span.time", { role: "gridcell" }),
      h("span.turn", { role: "gridcell" }),
      h("span.item", { role: "gridcell" }, symbol("event"), h("bdi.name"), h("bdi.text")),
      h("span.status", { role: "gridcell" }),
      h("span.marks", { role: "gridcell" }),
    );
  }

  updateRow(row, index) {
    const item = this.item(index);
    row.classList.toggle("loading", !item);
    const [seq, time, turn, what, status, marks] = row.children;
    if (!item) {
      for (const cell of [seq, time, turn, status]) put(cell, "");
      put(what.children[1], "…");
      put(what.children[2], "");
      marks.replaceChildren();
      row.classList.remove("evidence", "faded", "failed", "turns");
      return;
    }
    const before = index > 0 ? this.item(index - 1) : undefined;
    put(seq, item.seq === null ? "" : String(item.seq));
    put(time, this.origin === null ? "" : offset(item.time_ms - this.origin));
    put(turn, item.turn === null || (before && before.turn === item.turn) ? "" : `turn ${item.turn}`);
    setAttribute(what.firstElementChild.firstElementChild, "href", `#${item.kind}`);
    setAttribute(row, "data-kind", item.kind);
    put(what.children[1], line(item.name, 120));
    put(what.children[2], preview(item));
    put(status, [item.status, duration(item.duration_ms)].filter(Boolean).join(" · "));
    row.classList.toggle("failed", item.status === "error" || item.status === "failed" || item.status === "denied");
    row.classList.toggle("turns", Boolean(before) && item.turn !== null && before.turn !== item.turn);
    row.classList.toggle("evidence", item.marks.length > 0);
    row.classList.toggle("faded", Boolean(this.behavior) && !item.marks.includes(this.behavior));
    this.showMarks(row, marks, item);
  }

  showMarks(row, cell, item) {
    const chosen = item.marks.includes(this.behavior) ? [this.behavior] : [];
    const shown = this.behavior ? chosen : item.marks;
    const outcome = this.outcomes.get(shown[0]);
    setAttribute(row, "data-result", outcome ? outcome.result : null);
    const key = shown.map((name) => `${name}${JSON.stringify(this.outcomes.get(name)?.final)}${this.outcomes.get(name)?.result}`).join("\n");
    if (cell.dataset.key === key) return;
    cell.dataset.key = key;
    const tags = shown.slice(0, 2).map((name) => {
      const result = this.outcomes.get(name) ?? { result: "unknown", final: false };
      const sign = tile();
      show(sign, result);
      return h("span.mark", { title: line(name), "aria-label": `evidence of ${line(name, 120)}, ${spoken(result)}` }, sign, h("bdi", {}, line(name, 60)));
    });
    if (shown.length > 2) tags.push(h("span.more", {}, `+${shown.length - 2}`));
    cell.replaceChildren(...tags);
  }

  async open(index) {
    const item = this.item(index);
    if (item) this.openItem(item);
  }

  /** Positions of the selected behavior's evidence: for the ruler, and for stepping through it. */
  async readEvidence() {
    const { behavior, epoch } = this;
    if (!behavior) {
      this.evidence = [];
      this.drawRuler();
      return;
    }
    const key = `${behavior}\n${epoch}`;
    if (this.evidenceKey === key) return this.evidenceRead;
    this.evidenceKey = key;
    this.evidenceRead = get(`${this.path}/items?limit=1000&behavior=${encodeURIComponent(behavior)}`)
      .then((answer) => {
        if (this.behavior !== behavior) return;
        this.evidence = answer.items.map((item) => item.position);
        this.drawRuler();
      })
      .catch((error) => this.problem(line(error.message)));
    return this.evidenceRead;
  }

  drawRuler() {
    this.ruler.dataset.result = this.outcomes.get(this.behavior)?.result ?? "";
    const shown = this.query().size ? [] : this.evidence;
    this.ruler.replaceChildren(...shown.slice(0, 400).map((position) => {
      const tick = h("i");
      tick.style.top = `${(100 * (position + 0.5)) / Math.max(1, this.total)}%`;
      return tick;
    }));
  }

  jump(event) {
    const box = this.ruler.getBoundingClientRect();
    this.grid.scrollTop = ((event.clientY - box.top) / box.height) * this.grid.scrollHeight - this.grid.clientHeight / 2;
  }

  async toFirstEvidence() {
    if (!this.behavior) return;
    await this.readEvidence();
    if (this.evidence.length && !this.query().size) this.goTo(this.evidence[0]);
  }

  toEvidence(step) {
    if (!this.evidence.length || this.query().size) return false;
    const { active } = this.rows;
    const after = this.evidence.filter((position) => (step > 0 ? position > active : position < active));
    const next = step > 0 ? after[0] : after.at(-1);
    if (next !== undefined) this.goTo(next);
    return true;
  }

  goTo(position) {
    this.awaited = position < this.total ? null : position;
    if (this.awaited !== null) return;
    this.rows.drawNow();
    this.rows.reveal(position, true);
    this.rows.activate(position);
  }

  noteFollowing() {
    this.following = this.rows.atEnd() && this.grid.scrollHeight > this.grid.clientHeight;
  }
}

function preview(item) {
  const parts = [item.path, item.error, item.input, item.kind === "tool" && !item.error && item.output ? `→ ${item.output}` : null];
  return line(parts.filter(Boolean).join("  "), 240);
}

function offset(ms) {
  const seconds = ms / 1000;
  if (Math.abs(seconds) < 600) return `${seconds < 0 ? "−" : "+"}${Math.abs(seconds).toFixed(3)}`;
  const whole = Math.round(Math.abs(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60].map((part) => String(part).padStart(2, "0"));
  return `${seconds < 0 ? "−" : "+"}${parts.join(":")}`;
}
