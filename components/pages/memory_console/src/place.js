// Where the reader is: in a space and one of its panels, or in a view of the whole memory.
import { signal } from "./vendor/preact-signals.js";

/** The space that is open, or null. */
export const space = signal(null);

/** The panel that is shown of every space, so that changing the space stays in it. */
export const panel = signal("memories");

/** The view that is open instead of a space: "diagnostics", "whole", or "". */
export const view = signal("");

/** What a panel is to begin with, left there by another one: {id}, {sender_id} or {operation}. */
export const wanted = signal(null);

/** Open a space. */
export function openSpace(found) {
  wanted.value = null;
  view.value = "";
  space.value = found;
  focusDetail();
}

/** Open a view of the whole memory. */
export function openView(name) {
  view.value = name;
  focusDetail();
}

/** Show a panel of the open space, beginning with something. */
export function openPanel(name, first = null) {
  wanted.value = first;
  panel.value = name;
}

/** Leave what is open, back to the list of spaces. */
export function close() {
  const closed = space.value;
  view.value = "";
  space.value = null;
  // On small screens the list was hidden until now.
  requestAnimationFrame(() => document.querySelector(`[data-space="${CSS.escape(closed?.space_id || "")}"]`)?.focus());
}

function focusDetail() {
  requestAnimationFrame(() => document.getElementById("detail")?.focus({ preventScroll: true }));
}
