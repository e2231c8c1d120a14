// Puts the page together: the stream into the store, the address into a view, the keys into actions.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { tileOf } from "./results.js";
import { RunView } from "./run.js";
import { SessionView } from "./session.js";
import { Store } from "./store.js";
import { Stream } from "./stream.js";
import { h, line, put, setAttribute } from "./text.js";

const MOVES = ["ArrowDown", "ArrowUp", "j", "k", "Home", "End", "PageDown", "PageUp"];

const $ = (id) => document.getElementById(id);
const store = new Store();
const memories = { session: {}, job: {}, run: {} };
let view = null;
let again = 0;
let spokenAt = -Infinity;
let speaking = 0;
let unsaid = "";
let waiting = 0;

function address(...parts) {
  return "#/" + parts.map(encodeURIComponent).join("/");
}

function place() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(safeDecode);
  if (parts[0] === "run") return { name: "run", chosen: parts[1] ?? "" };
  if (parts[0] === "sessions" || parts[0] === "jobs") {
    const kind = parts[0].slice(0, -1);
    return parts[1] === undefined ? { name: "board", kind } : { name: "unit", unit: { kind, id: parts[1] }, behavior: parts[2] ?? "" };
  }
  return store.run ? { name: "run", chosen: "" } : { name: "board", kind: "session" };
}

function safeDecode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function render(moved) {
  const at = place();
  view?.dispose();
  if (at.name === "run") {
    view = new RunView(store, at.chosen, memories.run, (key) => (location.hash = key ? address("run", key) : address("run")));
  } else if (at.name === "unit") {
    memories[at.unit.kind].active = at.unit.id;
    view = new SessionView(store, at.unit, at.behavior, null, say);
  } else {
    view = new Board(store, at.kind, memories[at.kind], (kind, id, behavior) => {
      location.hash = behavior ? address(`${kind}s`, id, behavior) : address(`${kind}s`, id);
    });
  }
  $("main").replaceChildren(view.element);
  if (moved) $("main").focus({ preventScroll: true });
  tabs();
}

function tabs() {
  const at = place();
  const current = at.name === "run" ? "run" : (at.kind ?? at.unit.kind);
  const jobs = [...store.units.values()].some((unit) => unit.kind === "job") || store.head?.behaviors.jobs.length;
  const wanted = [store.run ? ["run", "Run"] : null, ["session", "Sessions"], jobs || current === "job" ? ["job", "Jobs"] : null].filter(Boolean);
  const key = wanted.map(([name]) => name).join() + current;
  if ($("tabs").dataset.key === key) return;
  $("tabs").dataset.key = key;
  $("tabs").replaceChildren(...wanted.map(([name, text]) => h("a", { href: name === "run" ? "#/run" : `#/${name}s`, "aria-current": name === current ? "page" : null }, text)));
}

function title() {
  const failing = store.run
    ? [...store.tests.values()].filter((test) => test.status === "failed" || test.status === "error").length
    : [...store.units.values()].filter((unit) => unit.verdict.result === "fail").length;
  document.title = failing ? `(${failing} failing) spanbar` : "spanbar";
}

/** Say something to a screen reader, not more often than every two seconds: then what came last. */
function say(text) {
  unsaid = text;
  speaking ||= setTimeout(() => {
    speaking = 0;
    spokenAt = performance.now();
    put($("polite"), unsaid);
  }, Math.max(0, spokenAt + 2000 - performance.now()));
}

function connection(state, detail) {
  clearInterval(again);
  const before = $("connection").dataset.state;
  const over = store.run && ["finished", "interrupted"].includes(store.run.status);
  if (over && state === "lost") state = "over";
  setAttribute($("connection"), "data-state", state);
  const words = { live: "Live", connecting: "Connecting", lost: "Connection lost", over: "Run over", refused: "Token needed" };
  put($("connection-text"), words[state]);
  if (state === "lost") {
    const tell = () => {
      const seconds = Math.max(0, Math.ceil((detail.again - Date.now()) / 1000));
      banner(`Connection lost. What is shown is as it was; trying again ${seconds ? `in ${seconds} s` : "now"}.`, "Try now", () => stream.retryNow());
    };
    tell();
    again = setInterval(tell, 500);
    if (before === "live") say("Connection lost.");
  } else if (state === "over") {
    banner("The run is over and its server has gone. This is how it ended.");
  } else if (state === "live") {
    $("banner").hidden = true;
    if (before === "lost") say("Connected again.");
  } else if (state === "refused") {
    askForToken();
  }
}

function banner(text, action, act) {
  const box = $("banner");
  box.hidden = false;
  if (box.children.length !== (action ? 2 : 1)) {
    box.replaceChildren(h("p", { role: "alert" }), ...(action ? [h("button", { type: "button", onclick: act }, action)] : []));
  }
  put(box.firstElementChild, text);
}

function askForToken() {
  const dialog = $("login");
  if (dialog.open) return;
  const field = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true });
  const problem = h("p.problem", { role: "alert", hidden: true });
  const form = h("form", { method: "dialog" },
    h("h2", { id: "login-title" }, "This server wants its token"),
    h("p", {}, "It was set when spanbar was started (--token, or SPANBAR_TOKEN)."),
    h("label", { for: "token" }, "Token"), field, problem,
    h("button", { type: "submit" }, "Open"),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await post("/api/v1/login", { token: field.value });
      dialog.close();
      stream.open();
      render();
    } catch (error) {
      problem.hidden = false;
      put(problem, line(error.message));
      field.select();
    }
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

function showKeys() {
  const keys = [["↑ ↓  j k", "move"], ["Enter", "open"], ["Esc", "back, close"], ["/", "search"], ["n  p", "next, previous evidence"], ["Home End", "first, last"], ["?", "this"]];
  const signs = [["pass", "every check of the behavior held"], ["fail", "it did not hold"], ["unknown", "it could not be checked"], ["error", "it cannot be checked at all"], ["not_applicable", "nothing that it speaks of happened"]];
  const dialog = $("keys");
  dialog.replaceChildren(
    h("form", { method: "dialog" },
      h("h2", { id: "keys-title" }, "Keys and signs"),
      h("dl", {}, ...keys.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
      h("table", {}, h("thead", {}, h("tr", {}, ...["so far", "final", "meaning"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, ...signs.map(([result, what]) => h("tr", {}, h("td", {}, tileOf({ result, final: false })), h("td", {}, tileOf({ result, final: true })), h("td", {}, what))))),
      h("p", {}, "Hollow: provisional, an item may still change it. Solid: final. ↺: a final result was revised by what came late."),
      h("button", { autofocus: true }, "Close"),
    ),
  );
  dialog.showModal();
}

function keys(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (typing) {
      if (event.target.value && event.target.type === "search") {
        event.target.value = "";
        event.target.dispatchEvent(new Event("input"));
      } else event.target.blur();
      document.querySelector(".grid")?.focus();
    } else if (!view?.escape?.() && place().name === "unit") location.hash = `#/${place().unit.kind}s`;
    event.preventDefault();
  } else if (typing) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.focus();
  } else if (event.key === "?") {
    showKeys();
  } else if (view?.key?.(event)) {
    event.preventDefault();
  } else if (event.target === document.body || event.target === $("main")) {
    const grid = document.querySelector(".grid");
    if (grid && MOVES.includes(event.key)) {
      grid.focus({ preventScroll: true });
      grid.dispatchEvent(new KeyboardEvent("keydown", { key: event.key }));
      event.preventDefault();
    }
  }
}

const stream = new Stream(
  {
    ...store.handlers(),
    // What was asked for comes before the server goes: it waits a moment for its readers to leave.
    bye: async () => {
      const { source } = stream;
      await Promise.allSettled(store.reading);
      stream.lost(source);
    },
  },
  connection,
);

let placed = false;
store.listen((what) => {
  if (what.kind === "synced" && !placed) {
    placed = true;
    render();
  } else if (what.kind === "synced" || what.kind === "units" || what.kind === "run") tabs();
  if (what.kind === "result" && what.result.final && what.result.result === "fail") {
    say(`${line(what.result.behavior, 80)}: fail, in ${what.result.unit.kind} ${line(what.result.unit.id, 60)}`);
  }
  if (!waiting) {
    waiting = setTimeout(() => {
      waiting = 0;
      title();
    }, 500);
  }
});

window.addEventListener("hashchange", () => render(true));
document.addEventListener("keydown", keys);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && stream.retryNow());
$("help").addEventListener("click", showKeys);
render();
get("/api/v1/info").then(
  () => stream.open(),
  (error) => (error.status === 401 ? connection("refused") : stream.open()),
);
