// Rows of one height of which only those in sight exist, and the one that the keyboard is on.
//
// The scroller has the focus and names the active row with aria-activedescendant: a row that scrolls out of sight
// ceases to be an element, and the focus must not go with it.

import { setAttribute } from "./text.js";

const OVERSCAN = 8;
let serial = 0;

export class Rows {
  /**
   * `scroller`: the grid element, with the spacer `body` in it, which rows are put in. `create()` makes a row element,
   * `update(row, index)` fills it, `height()` is the height of one in px, `head()` that of what sticks above them.
   */
  constructor({ scroller, body, create, update, height, head = () => 0, open = () => {}, moved = () => {}, inSight = () => {} }) {
    Object.assign(this, { scroller, body, create, update, height, head, open, moved, inSight });
    this.id = `rows${++serial}`;
    this.count = 0;
    this.active = -1;
    this.shown = new Map();
    this.spare = [];
    this.pending = 0;
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    scroller.addEventListener("keydown", (event) => this.key(event));
    body.addEventListener("click", (event) => this.click(event));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(scroller);
  }

  dispose() {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
  }

  resize(count) {
    this.count = count;
    setAttribute(this.scroller, "aria-rowcount", count + 1);
    if (this.active >= count) this.activate(count - 1, false);
    this.draw();
  }

  /** Draw at the next frame, however often it is asked for. */
  draw() {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.pending = 0;
    const height = this.height();
    this.body.style.height = `${this.count * height}px`;
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / height) - OVERSCAN);
    const to = Math.min(this.count, Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / height) + OVERSCAN);
    for (const [index, row] of this.shown) {
      if (index >= from && index < to) continue;
      row.hidden = true;
      row.removeAttribute("id");
      this.shown.delete(index);
      this.spare.push(row);
    }
    for (let index = from; index < to; index++) {
      let row = this.shown.get(index);
      if (!row) {
        row = this.spare.pop() ?? this.body.appendChild(this.create());
        row.hidden = false;
        row.id = `${this.id}-${index}`;
        row.dataset.index = index;
        row.style.transform = `translateY(${index * height}px)`;
        row.setAttribute("aria-rowindex", index + 2);
        this.shown.set(index, row);
      } else if (this.drawnHeight !== height) {
        row.style.transform = `translateY(${index * height}px)`;
      }
      row.classList.toggle("active", index === this.active);
      setAttribute(row, "aria-selected", index === this.active ? "true" : "false");
      this.update(row, index);
    }
    this.drawnHeight = height;
    const present = this.shown.has(this.active);
    setAttribute(this.scroller, "aria-activedescendant", present ? `${this.id}-${this.active}` : null);
    this.inSight(from, to);
  }

  /** Forget all row elements: their make-up has changed. */
  rebuild() {
    this.shown.clear();
    this.spare = [];
    this.body.replaceChildren();
    this.draw();
  }

  activate(index, scroll = true) {
    this.active = Math.max(-1, Math.min(index, this.count - 1));
    if (scroll && this.active >= 0) this.reveal(this.active);
    this.moved(this.active);
    this.draw();
  }

  reveal(index, middle = false) {
    const height = this.height();
    const top = index * height;
    const room = this.scroller.clientHeight - this.head();
    const { scrollTop } = this.scroller;
    if (middle) this.scroller.scrollTop = top - (room - height) / 2;
    else if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + height > scrollTop + room) this.scroller.scrollTop = top + height - room;
  }

  atEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < this.height() * 1.5;
  }

  toEnd() {
    this.drawNow();
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height()) - 2);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps && this.count) {
      event.preventDefault();
      const next = this.active + steps[event.key];
      this.activate(Math.max(0, Math.min(this.count - 1, next)));
    } else if ((event.key === "Enter" || event.key === " ") && this.active >= 0) {
      event.preventDefault();
      this.open(this.active, null);
    }
  }

  click(event) {
    const row = event.target.closest("[data-index]");
    if (!row || !this.body.contains(row)) return;
    const index = Number(row.dataset.index);
    this.activate(index, false);
    this.open(index, event.target);
  }
}
