// The event stream: keeps it open, says whether it is, and hands on its events.
//
// The browser's own reconnection gives up on refusals and cannot tell why; this one knows the last id, waits a little
// longer every time, and asks the API when a token may be missing.

import { get } from "./api.js";

const EVENTS = ["reset", "units", "result", "gone", "synced", "beat", "bye", "run", "tests"];
const SILENCE = 25_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

export class Stream {
  /** `on`: handlers by event name; `state(name, detail)`: `connecting`, `live`, `lost`, `stopped`, `refused`. */
  constructor(on, state) {
    this.on = on;
    this.state = state;
    this.lastId = "";
    this.wait = FIRST_WAIT;
    this.source = null;
    this.timer = null;
    this.watch = null;
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const query = this.lastId ? `?last_event_id=${encodeURIComponent(this.lastId)}` : "";
    const source = (this.source = new EventSource(`/api/v1/events${query}`));
    source.onopen = () => {
      this.wait = FIRST_WAIT;
      this.state("live");
      this.heard();
    };
    source.onerror = () => this.lost(source);
    for (const name of EVENTS) {
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.heard();
        if (event.lastEventId) this.lastId = event.lastEventId;
        this.on[name]?.(JSON.parse(event.data));
      });
    }
  }

  heard() {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.lost(this.source), SILENCE);
  }

  async lost(source) {
    if (source !== this.source || source === null) return;
    source.close();
    this.source = null;
    clearTimeout(this.watch);
    const wait = this.wait;
    this.wait = Math.min(this.wait * 1.7, LONGEST_WAIT);
    this.state("lost", { again: Date.now() + wait });
    try {
      await get("/api/v1/info");
    } catch (error) {
      if (error.status === 401) {
        this.state("refused");
        return;
      }
    }
    if (this.source === null) this.timer = setTimeout(() => this.open(), wait);
  }

  retryNow() {
    if (this.source === null) this.open();
  }
}
