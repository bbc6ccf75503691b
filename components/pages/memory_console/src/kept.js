// What the plugin said lately, so that a panel that is opened again is drawn at once, before it is asked anew.
import { signal } from "./vendor/preact-signals.js";

const MOST = 24;
const answers = new Map();

/** Counts how often everything that is shown was to be asked anew. */
export const refreshed = signal(0);

/** Return what was said to that request last, or null. */
export function lately(request) {
  return answers.get(request) ?? null;
}

/** Keep what was said; the oldest of too many goes. */
export function keep(request, answer) {
  answers.delete(request);
  answers.set(request, answer);
  if (answers.size > MOST) answers.delete(answers.keys().next().value);
}

/** Something was changed, so that nothing of it may be true any more. */
export function forget() {
  answers.clear();
}

/** Have everything that is shown asked anew. */
export function refresh() {
  refreshed.value += 1;
}
