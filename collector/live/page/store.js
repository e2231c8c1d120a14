// What the stream has told: units, the run and its tests. Views read it and are told when it changes.

import { get } from "./api.js";

const DETAILS_KEPT = 200;

const keyOf = ({ kind, id }) => `${kind}\n${id}`;

export class Store {
  constructor() {
    this.units = new Map();
    this.tests = new Map();
    this.run = null;
    this.head = null;
    this.ready = false;
    this.skew = 0;
    this.coming = null;
    this.listeners = new Set();
    this.changes = new Map();
    this.details = new Map();
    this.reading = new Set();
  }

  /** A test with its conversations. It is kept: the server of a run is gone when the run is over. */
  async readTest(key) {
    const asked = get(`/api/v1/run/tests/${encodeURIComponent(key)}`);
    this.reading.add(asked);
    const test = await asked.finally(() => this.reading.delete(asked));
    this.details.delete(key);
    this.details.set(key, test);
    if (this.details.size > DETAILS_KEPT) this.details.delete(this.details.keys().next().value);
    return test;
  }

  /** Milliseconds since the epoch, by the server's clock. */
  now() {
    return Date.now() + this.skew;
  }

  unit(kind, id) {
    return this.units.get(keyOf({ kind, id }));
  }

  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(what) {
    for (const listener of this.listeners) listener(what);
  }

  /** Handlers for the stream's events. While a snapshot comes in, what was shown before it stays. */
  handlers() {
    return {
      reset: (data) => {
        this.coming = { units: new Map(), tests: new Map(), head: data };
        this.beat(data);
      },
      units: ({ units }) => {
        for (const unit of units) (this.coming?.units ?? this.units).set(keyOf(unit), unit);
        if (!this.coming) this.tell({ kind: "units", units });
      },
      result: (data) => this.result(data),
      gone: ({ unit }) => {
        (this.coming?.units ?? this.units).delete(keyOf(unit));
        this.tell({ kind: "gone", unit });
      },
      run: (run) => {
        this.run = run;
        this.tell({ kind: "run" });
      },
      tests: ({ tests }) => {
        for (const test of tests) (this.coming?.tests ?? this.tests).set(test.key, test);
        for (const test of tests) if (test.status === "failed" || test.status === "error") this.readTest(test.key).catch(() => null);
        if (!this.coming) this.tell({ kind: "tests", tests });
      },
      synced: () => this.synced(),
      beat: (data) => this.beat(data),
    };
  }

  result(data) {
    const unit = this.units.get(keyOf(data.unit));
    if (!unit) return;
    unit.cells = data.cells;
    unit.verdict = data.verdict;
    unit.last_ms = data.at_ms;
    unit.revised = unit.revised.filter((position) => position !== data.position);
    if (data.revised) unit.revised = [...unit.revised, data.position];
    this.changes.set(`${keyOf(data.unit)}\n${data.position}`, performance.now());
    this.tell({ kind: "result", result: data });
  }

  /** Whether a cell changed within the last `ms`. */
  changedLately(unit, position, ms) {
    const at = this.changes.get(`${keyOf(unit)}\n${position}`);
    if (at === undefined) return false;
    if (performance.now() - at < ms) return true;
    this.changes.delete(`${keyOf(unit)}\n${position}`);
    return false;
  }

  synced() {
    if (this.coming) {
      this.units = this.coming.units;
      this.tests = this.coming.tests;
      this.head = this.coming.head;
      if (this.head.mode !== "run") this.run = null;
      this.coming = null;
    }
    this.ready = true;
    this.tell({ kind: "synced" });
  }

  beat(data) {
    this.skew = data.now_ms - Date.now();
    this.totals = data;
    this.tell({ kind: "beat" });
  }
}
