// A run as it goes on: every test with its state, and the conversations of the one that is chosen.

import { Rows } from "./rows.js";
import { showStatus, statusTile } from "./results.js";
import { block, count, duration, h, line, plural, put, setAttribute, symbol } from "./text.js";

const PHONE = window.matchMedia("(max-width: 640px)");
const ORDER = ["failed", "error", "running", "passed", "waiting", "not run"];
const REREAD = 300;

export class RunView {
  constructor(store, chosen, memory, go) {
    Object.assign(this, { store, chosen, memory, go });
    this.list = [];
    this.timer = 0;
    this.element = this.build();
    this.rows = new Rows({
      scroller: this.grid,
      body: this.body,
      create: () => this.createRow(),
      update: (row, index) => this.updateRow(row, this.list[index]),
      height: () => (PHONE.matches ? 52 : 32),
      open: (index) => this.list[index].key && this.go(this.list[index].key),
    });
    this.stop = store.listen((what) => this.heard(what));
    this.ticking = setInterval(() => this.showProgress(), 500);
    this.refresh();
    if (chosen) this.read();
  }

  dispose() {
    this.stop();
    clearInterval(this.ticking);
    clearTimeout(this.timer);
    clearTimeout(this.due);
    this.rows.dispose();
  }

  build() {
    this.progress = h("div.progress", { role: "img" });
    this.sum = h("p.facts-line");
    this.search = h("input", { type: "search", id: "search", placeholder: "Find tests  ( / )", "aria-label": "Find tests by name", autocomplete: "off", spellcheck: "false", value: this.memory.text ?? "" });
    this.search.addEventListener("input", () => this.filter({ text: this.search.value }));
    this.only = h("select", { "aria-label": "Show only" }, ...["all", ...ORDER].map((value) => h("option", { value }, value === "all" ? "All tests" : value)));
    this.only.value = this.memory.only ?? "all";
    this.only.addEventListener("change", () => this.filter({ only: this.only.value }));
    this.notices = h("details.notices", { hidden: true });
    this.body = h("div.body", { role: "rowgroup" });
    const head = h("div.head.unseen", { role: "rowgroup" }, h("div", { role: "row", "aria-rowindex": 1 }, ...["Status", "Test", "What", "Runs", "Time"].map((name) => h("span", { role: "columnheader" }, name))));
    this.grid = h("div.grid.tests", { role: "grid", tabindex: "0", "aria-label": "Tests" }, head, this.body);
    this.detail = h("div.detail", { "aria-live": "off", tabindex: "0", role: "region", "aria-label": "The chosen test" });
    this.note = h("p.empty", { hidden: true });
    return h("section.view.run", { "aria-label": "Run" },
      h("div.title", {}, h("h1", {}, "Run"), this.sum),
      this.progress,
      h("div.bar", {}, this.search, this.only),
      this.notices,
      this.note,
      h("div.split", {}, this.grid, this.detail),
    );
  }

  escape() {
    if (!this.chosen) return false;
    this.go("");
    return true;
  }

  key() {
    return false;
  }

  filter(change) {
    Object.assign(this.memory, change);
    this.refresh();
  }

  heard(what) {
    if (what.kind === "tests" || what.kind === "synced" || what.kind === "run") {
      if (!this.due) this.due = setTimeout(() => this.refresh(), 80);
      if (this.chosen && (what.kind !== "tests" || what.tests.some((test) => test.key === this.chosen))) this.later();
    }
  }

  later() {
    if (!this.timer) this.timer = setTimeout(() => this.read(), REREAD);
  }

  refresh() {
    clearTimeout(this.due);
    this.due = 0;
    const { text = "", only = "all" } = this.memory;
    const needle = text.toLowerCase();
    this.list = [];
    let suite = null;
    for (const test of this.store.tests.values()) {
      if (only !== "all" && test.status !== only) continue;
      if (needle && !`${test.suite} ${test.name}`.toLowerCase().includes(needle)) continue;
      const title = `${test.spec}\n${test.suite}`;
      if (title !== suite) this.list.push({ suite: test.suite, spec: test.spec });
      suite = title;
      this.list.push(test);
    }
    this.showProgress();
    this.showNotices();
    this.note.hidden = this.list.length > 0;
    put(this.note, this.store.tests.size ? "No test matches the filter." : "Waiting for the run to begin …");
    this.grid.hidden = this.list.length === 0;
    this.grid.parentElement.classList.toggle("with-detail", Boolean(this.chosen));
    this.rows.resize(this.list.length);
  }

  showProgress() {
    const tests = [...this.store.tests.values()];
    const numbers = Object.fromEntries(ORDER.map((status) => [status, tests.filter((test) => test.status === status).length]));
    const said = ORDER.filter((status) => numbers[status]).map((status) => `${count(numbers[status])} ${status}`);
    const run = this.store.run;
    const since = run?.started_ms && run.status === "running" ? duration(this.store.now() - run.started_ms) : null;
    put(this.sum, [run?.status ?? "", plural(tests.length, "test"), ...said, since].filter(Boolean).join(" · "));
    setAttribute(this.progress, "aria-label", said.join(", ") || "no tests");
    if (this.progress.dataset.key !== said.join()) {
      this.progress.dataset.key = said.join();
      this.progress.replaceChildren(...["passed", "failed", "error", "running", "waiting", "not run"].filter((status) => numbers[status]).map((status) => {
        const part = h("i", { "data-status": status });
        part.style.flexGrow = numbers[status];
        return part;
      }));
    }
    this.rows?.draw();
  }

  showNotices() {
    const notices = this.store.run?.notices ?? [];
    this.notices.hidden = notices.length === 0;
    if (this.notices.dataset.size === String(notices.length)) return;
    this.notices.dataset.size = notices.length;
    this.notices.replaceChildren(
      h("summary", {}, plural(notices.length, "notice")),
      h("ul", {}, ...notices.map((notice) => h("li", {}, h("b", {}, line(notice.code)), " ", h("bdi", {}, line(notice.text, 600))))),
    );
  }

  createRow() {
    return h("div.row", { role: "row" },
      h("span.verdict", { role: "gridcell" }, statusTile("waiting")),
      h("span.name", { role: "rowheader" }, h("bdi")),
      h("span.doing", { role: "gridcell" }, h("bdi")),
      h("span.runs", { role: "gridcell" }),
      h("span.took", { role: "gridcell" }),
    );
  }

  updateRow(row, test) {
    const [verdict, name, doing, runs, took] = row.children;
    const suite = test.key === undefined;
    row.classList.toggle("suite", suite);
    row.classList.toggle("chosen", !suite && test.key === this.chosen);
    verdict.firstElementChild.hidden = suite;
    setAttribute(verdict, "aria-label", suite ? "suite" : test.status);
    put(name.firstElementChild, line(suite ? test.suite : test.name, 200));
    if (suite) {
      put(doing.firstElementChild, line(test.spec.split("/").pop(), 120));
      put(runs, "");
      put(took, "");
      return;
    }
    showStatus(verdict.firstElementChild, test.status);
    const now = test.doing;
    const activity = now ? `${plural(now.calls, "call")} · ${now.trigger}` : (test.revision ?? test.reason ?? "");
    put(doing.firstElementChild, line(activity, 240));
    put(runs, test.runs > 1 ? `${test.passed_runs ?? test.executions}/${test.runs}` : "");
    const elapsed = test.status === "running" && test.started_ms ? this.store.now() - test.started_ms : test.duration_ms;
    put(took, duration(elapsed));
  }

  async read() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { chosen } = this;
    const kept = this.store.details.get(chosen);
    if (kept && !this.shown) this.showTest(kept);
    try {
      this.showTest(await this.store.readTest(chosen));
    } catch (error) {
      if (!this.shown) this.detail.replaceChildren(h("p.problem", { role: "alert" }, line(error.message)));
    }
  }

  showTest(test) {
    this.shown = true;
    const close = h("button.quiet", { type: "button", "aria-label": "Close the test (Esc)", onclick: () => this.go("") }, "×");
    const scroll = this.detail.scrollTop;
    const parts = [
      h("header", {}, h("h2", {}, statusTile(test.status), h("bdi", {}, line(test.name, 300))), close),
      test.revision ? h("p.problem", {}, `Revised: ${line(test.revision, 600)}`) : null,
      ...reasons(test.reasons),
      ...test.all_executions.map((execution) => this.execution(execution, test.all_executions.length > 1)),
    ];
    this.detail.replaceChildren(...parts.filter(Boolean));
    this.detail.scrollTop = scroll;
  }

  execution(execution, several) {
    const facts = [execution.status, execution.decided_ms === null ? null : `decided after ${duration(execution.decided_ms)}`, execution.ended_early ? "ended early" : null, execution.revised ? "revised" : null];
    return h("section.execution", {},
      several ? h("h3", {}, statusTile(execution.status), `Run ${execution.run}`, execution.phrasing ? h("bdi.phrasing", {}, line(execution.phrasing, 200)) : null) : null,
      h("p.facts-line", {}, facts.filter(Boolean).join(" · ")),
      ...execution.turns.map((turn) => this.turn(turn)),
    );
  }

  turn(turn) {
    const facts = [turn.reply_ms === null ? null : `reply after ${duration(turn.reply_ms)}`, turn.decided_by ? `closed by ${turn.decided_by}` : null];
    return h("div.exchange", { "data-status": turn.status },
      h("p.said.user", {}, h("span.who", {}, "message"), h("bdi", {}, block(turn.trigger))),
      h("ul.calls", {}, ...turn.calls.map((call) => h("li", { "data-status": call.status }, symbol("tool"), h("bdi.name", {}, line(call.name, 120)), h("bdi.args", {}, line(call.args, 400)), h("bdi.got", {}, call.error ? `✕ ${line(call.error, 300)}` : call.result ? `→ ${line(call.result, 300)}` : ""), h("span.took", {}, duration(call.duration_ms))))),
      turn.reply === null ? null : h("p.said.agent", {}, h("span.who", {}, "reply"), h("bdi", {}, block(turn.reply))),
      turn.status === "running" ? h("p.said.waits", {}, "waiting for the agent …") : null,
      ...reasons(turn.reasons),
      h("p.facts-line", {}, facts.filter(Boolean).join(" · ")),
    );
  }
}

function reasons(list) {
  return list.map((reason) =>
    h("div.reason", { "data-error": reason.error },
      h("p", {}, h("b", {}, line(reason.code)), " ", h("bdi", {}, block(reason.text))),
      reason.path ? h("p.where", {}, line(reason.path, 200), reason.line ? `, line ${reason.line}` : "") : null,
      reason.fix ? h("p.where", {}, line(reason.fix, 500)) : null,
    ),
  );
}
