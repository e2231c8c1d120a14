// Text of others, made inert: shown as text only, with what could hide or reorder it made visible.

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(character) {
  const code = character.charCodeAt(0);
  if (character === "\n") return "⏎";
  if (character === "\t") return "⇥";
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** One line of at most `most` characters in which no control or bidi character acts. */
export function line(text, most = 300) {
  const whole = String(text ?? "");
  const cut = whole.length > most ? whole.slice(0, most) + "…" : whole;
  return cut.replace(CONTROLS, visible);
}

/** The same over several lines: line ends and tabs stay. */
export function block(text) {
  return String(text ?? "").replace(CONTROLS, (c) => (c === "\n" || c === "\t" ? c : visible(c)));
}

/** An element: `h("p.note", {title: "…"}, "text", child)`. Text becomes text nodes, never markup. */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An `<svg>` that shows one of the symbols of index.html. */
export function symbol(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "symbol");
  const use = document.createElementNS(namespace, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** Sets text only if it differs, so that nothing is laid out again for nothing. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

const NUMBER = new Intl.NumberFormat("en");
export const count = (number) => NUMBER.format(number);
export const plural = (number, one, many = one + "s") => `${count(number)} ${number === 1 ? one : many}`;

/** How long ago, or how long: `4 s`, `3 min`, `2 h`, `5 d`. */
export function span(ms) {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

/** A duration with what of it matters: `320 µs`, `12 ms`, `1.4 s`, `2:05`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60000)}:${String(Math.floor((ms % 60000) / 1000)).padStart(2, "0")} min`;
}

export function clock(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace("T", " ").replace("Z", " UTC");
}
