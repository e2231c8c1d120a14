// One session or job: what its behaviors say, and its timeline with the evidence marked.

import { get, post, unitPath } from "./api.js";
import { ItemPanel } from "./item.js";
import { RESULTS, label, spoken, tileOf, word } from "./results.js";
import { Timeline } from "./timeline.js";
import { count, h, line, plural, put, span } from "./text.js";

const REREAD = 400;

export class SessionView {
  constructor(store, unit, behavior, go, say) {
    Object.assign(this, { store, unit, behavior, go, say });
    this.path = unitPath(unit);
    this.detail = null;
    this.timer = 0;
    this.lastRead = 0;
    this.timeline = new Timeline(store, this.path, (item) => this.panel.open(this.path, item), (why) => this.problem(why));
    this.element = this.build();
    this.panel = new ItemPanel(document.getElementById("drawer"), () => this.closePanel());
    this.stop = store.listen((what) => this.heard(what));
    this.ticking = setInterval(() => this.showFacts(), 1000);
    this.read();
  }

  dispose() {
    this.stop();
    clearInterval(this.ticking);
    clearTimeout(this.timer);
    this.panel.close();
    this.timeline.dispose();
  }

  build() {
    const noun = this.unit.kind === "job" ? "Job" : "Session";
    this.overall = h("span.overall");
    this.facts = h("p.facts-line");
    this.end = h("button", { type: "button", onclick: () => this.endUnit() }, `End ${noun.toLowerCase()}`);
    this.warning = h("p.problem", { role: "alert", hidden: true });
    this.results = h("ul.results", { "aria-label": "Results of behaviors" });
    const back = h("a.back", { href: `#/${this.unit.kind}s`, "aria-label": `Back to all ${this.unit.kind}s (Esc)` }, "‹");
    return h("section.view.session", { "aria-label": `${noun} ${line(this.unit.id, 80)}` },
      h("div.title", {}, back, this.overall, h("h1", { title: line(this.unit.id, 1000) }, h("bdi", {}, line(this.unit.id, 200))), this.facts, this.end),
      this.warning,
      h("div.split", {}, h("div.rail", {}, h("h2", {}, "Behaviors"), this.results), this.timeline.element),
    );
  }

  /** What Esc does here: true if there was something to close. */
  escape() {
    if (this.panel.isOpen) return this.closePanel();
    if (this.behavior) return this.select("");
    return false;
  }

  closePanel() {
    this.panel.close();
    this.timeline.grid.focus({ preventScroll: true });
    return true;
  }

  key(event) {
    if (event.key === "n" || event.key === "p") return this.timeline.toEvidence(event.key === "n" ? 1 : -1);
    return false;
  }

  heard(what) {
    const units = what.units ?? [what.unit ?? what.result?.unit].filter(Boolean);
    if (what.kind === "synced" || units.some((u) => u.kind === this.unit.kind && u.id === this.unit.id)) {
      if (what.kind === "gone") this.problem("It was evicted to make room, or has no items any more. What is shown is the last state.");
      else this.later();
    }
  }

  later() {
    if (this.timer) return;
    this.timer = setTimeout(() => this.read(), Math.max(0, REREAD - (performance.now() - this.lastRead)));
  }

  async read() {
    clearTimeout(this.timer);
    this.timer = -1;
    try {
      this.detail = await get(this.path);
      this.problem(this.detail.cut ? `Not whole: ${line(this.detail.cut)}. What could not be checked is unknown, never a pass.` : "");
      const first = this.timeline.epoch === 0;
      this.showDetail();
      this.timeline.changed();
      if (first) this.timeline.toFirstEvidence();
    } catch (error) {
      this.problem(error.status === 404 ? "Nothing of it is here: it has not arrived, or was evicted to make room." : line(error.message));
    }
    this.lastRead = performance.now();
    this.timer = 0;
  }

  problem(text) {
    this.warning.hidden = !text;
    put(this.warning, text);
  }

  showFacts() {
    if (!this.detail) return;
    const { items, last_ms: last, state, reopened, dropped } = this.detail;
    const linked = this.detail.jobs ?? this.detail.sessions;
    const noun = this.unit.kind === "job" ? "session" : "job";
    const parts = [
      state === "closed" ? "closed" : "open",
      plural(items, "item"),
      `last ${span(this.store.now() - last)} ago`,
      reopened ? `reopened ${plural(reopened, "time")}` : null,
      dropped ? `${count(dropped)} not kept` : null,
      linked.length ? `${linked.length > 1 ? noun + "s" : noun} ${linked.slice(0, 3).map((id) => line(id, 40)).join(", ")}` : null,
    ];
    put(this.facts, parts.filter(Boolean).join(" · "));
    this.end.hidden = state === "closed";
  }

  showDetail() {
    this.overall.replaceChildren(label(this.detail.verdict));
    this.showFacts();
    const order = (result) => RESULTS.indexOf(result.result);
    const results = [...this.detail.results].sort((a, b) => order(a) - order(b));
    const focused = this.results.contains(document.activeElement) ? document.activeElement.dataset.behavior : null;
    this.results.replaceChildren(...results.map((result) => this.resultLine(result)));
    if (focused !== null) this.results.querySelector(`[data-behavior="${CSS.escape(focused)}"]`)?.focus();
    if (!results.length) this.results.append(h("li.empty", {}, "No behaviors are loaded."));
    this.timeline.outcomes = new Map(this.detail.results.map((result) => [result.behavior, result]));
    const selected = this.timeline.outcomes.get(this.behavior);
    this.timeline.select(selected ? this.behavior : "");
  }

  resultLine(result) {
    const chosen = result.behavior === this.behavior;
    const remarks = [
      word(result),
      result.severity === "warn" ? "warn" : null,
      result.revised ? "revised" : null,
      result.final_at ? `final at item ${count(result.final_at)}` : null,
      result.evidence_total ? `${count(result.evidence_total)} evidence` : null,
    ];
    const button = h("button.result", { type: "button", "aria-pressed": chosen ? "true" : "false", "data-behavior": result.behavior, onclick: () => this.select(chosen ? "" : result.behavior) },
      tileOf(result, result.revised),
      h("span.what", {},
        h("span.behavior", {}, h("bdi", {}, line(result.behavior, 200))),
        h("span.remarks", {}, remarks.filter(Boolean).join(" · ")),
        result.reason ? h("span.reason", {}, h("bdi", {}, line(result.reason, 500))) : null,
      ),
    );
    return h("li", { "data-result": result.result }, button);
  }

  select(behavior) {
    this.behavior = behavior;
    if (this.detail) this.showDetail();
    this.timeline.toFirstEvidence();
    return true;
  }

  async endUnit() {
    this.end.disabled = true;
    try {
      const ended = await post(`${this.path}/end`);
      this.say(`Ended: ${spoken(ended)}`);
    } catch (error) {
      this.problem(line(error.message));
    }
    this.end.disabled = false;
    this.read();
  }
}
