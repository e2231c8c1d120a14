// Results as signs and words. A provisional result is hollow and says so in its word; a final one is solid.

import { h, put, setAttribute, symbol } from "./text.js";

const OF_LETTER = { p: "pass", f: "fail", n: "not_applicable", u: "unknown", e: "error" };
const FINAL = { pass: "pass", fail: "fail", not_applicable: "n/a", unknown: "unknown", error: "error" };
const SO_FAR = {
  pass: "passing",
  fail: "failing",
  not_applicable: "n/a so far",
  unknown: "unknown so far",
  error: "error so far",
};
const TESTS = {
  waiting: "waiting",
  running: "running",
  passed: "pass",
  failed: "fail",
  error: "error",
  "not run": "not_applicable",
};

export const RESULTS = ["fail", "error", "unknown", "pass", "not_applicable"];

/** `{result, final}` of one letter of `cells`. */
export function ofLetter(letter) {
  const lower = letter.toLowerCase();
  return { result: OF_LETTER[lower], final: lower !== letter };
}

export const word = ({ result, final }) => (final ? FINAL : SO_FAR)[result];

/** What a screen reader says of a result. */
export function spoken(outcome, revised) {
  return `${word(outcome)}, ${outcome.final ? "final" : "provisional"}${revised ? ", revised" : ""}`;
}

/** A sign; `show` changes what it shows. */
export function tile() {
  const element = h("span.tile", {}, symbol("waiting"));
  return element;
}

export function show(element, { result, final }, revised = false) {
  setAttribute(element, "data-result", result);
  setAttribute(element, "data-final", final ? "" : null);
  setAttribute(element, "data-revised", revised ? "" : null);
  setAttribute(element.firstElementChild.firstElementChild, "href", `#${result}`);
}

export function tileOf(outcome, revised = false) {
  const element = tile();
  show(element, outcome, revised);
  return element;
}

/** A sign for the status of a test, turn or execution. */
export function showStatus(element, status) {
  const result = TESTS[status] ?? "waiting";
  const decided = status !== "running" && status !== "waiting";
  setAttribute(element, "data-result", result);
  setAttribute(element, "data-final", decided ? "" : null);
  setAttribute(element.firstElementChild.firstElementChild, "href", `#${result}`);
}

export function statusTile(status) {
  const element = tile();
  showStatus(element, status);
  return element;
}

/** A sign with its word. */
export function label(outcome, revised = false) {
  return h("span.verdict", {}, tileOf(outcome, revised), h("span.word", {}, word(outcome)), revised ? h("span.revised", {}, "revised") : null);
}

export function showWord(element, outcome) {
  put(element, word(outcome));
}
