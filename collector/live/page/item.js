// Everything about one item, in a panel beside the timeline.

import { get } from "./api.js";
import { block, clock, duration, h, line, symbol } from "./text.js";

const CALL = [["call_id", "call id"], ["agent", "agent"], ["convention", "convention"], ["source", "read from"], ["trace_id", "trace"], ["span_id", "span"]];

function facts(pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl.facts", {}, ...rows.flatMap(([name, value]) => [h("dt", {}, line(name, 120)), h("dd", {}, h("bdi", {}, block(String(value))))]));
}

function value(title, shown) {
  if (!shown || (shown.recorded && shown.text === "null")) return null;
  const body = shown.recorded
    ? h("pre", { tabindex: "0", "aria-label": title }, block(shown.text))
    : h("p.missing", {}, `Not recorded: ${line(shown.cause)}. ${line(shown.fix)}`);
  return h("section", {}, h("h3", {}, title), body);
}

export class ItemPanel {
  constructor(host, closed) {
    this.host = host;
    this.closed = closed;
    this.asked = null;
  }

  get isOpen() {
    return !this.host.hidden;
  }

  async open(path, shown) {
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    this.host.hidden = false;
    this.frame(shown, h("p.empty", {}, "Loading …"));
    try {
      const item = await get(`${path}/items/${encodeURIComponent(shown.id)}`, asked.signal);
      this.frame(item, ...this.content(item));
    } catch (error) {
      if (error.name !== "AbortError") this.frame(shown, h("p.problem", { role: "alert" }, line(error.message)));
    }
  }

  close() {
    this.asked?.abort();
    this.host.hidden = true;
    this.host.replaceChildren();
  }

  frame(item, ...content) {
    const close = h("button.quiet", { type: "button", "aria-label": "Close the item (Esc)", onclick: () => this.closed() }, "×");
    const title = h("h2", {}, symbol(item.kind), h("bdi", {}, line(item.name, 200)));
    this.host.replaceChildren(h("aside.panel", { "aria-label": `Item ${line(item.name, 80)}` }, h("header", {}, title, close), ...content));
  }

  content(item) {
    const columns = Object.entries(item.columns).map(([name, shown]) => [name, Array.isArray(shown) ? shown.join("\n") : shown]);
    const attributes = Object.entries(item.attributes);
    const call = item.call ?? {};
    return [
      facts([
        ["kind", [item.kind, item.tool_kind].filter(Boolean).join(", ")],
        ["status", item.status],
        ["seq", item.seq],
        ["turn", item.turn],
        ["time", clock(item.time_ms)],
        ["took", duration(item.duration_ms)],
        ["path", item.path],
        ["ops", item.ops.join(", ")],
        ["evidence of", item.marks.join("\n")],
        ...columns,
      ]),
      value("Arguments", call.args),
      value("Result", call.result),
      value("Error", call.error),
      item.call ? null : this.plainText("Input", item.input),
      item.call ? null : this.plainText("Output", item.output),
      item.call ? h("section", {}, h("h3", {}, "Where it was read"), facts(CALL.map(([key, name]) => [name, call[key]]))) : null,
      attributes.length ? h("section", {}, h("h3", {}, "Attributes"), facts(attributes)) : null,
    ].filter(Boolean);
  }

  plainText(title, text) {
    return text ? value(title, { recorded: true, text }) : null;
  }
}
