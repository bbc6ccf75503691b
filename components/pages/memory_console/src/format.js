// How facts read in the reader's language.
import { apart, known, locale, t } from "./i18n.js";

const STEPS = [
  ["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60],
];

/** Return how long ago an ISO time is, `""` when there is none. */
export function ago(iso) {
  const seconds = (Date.parse(iso) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) || ["second", 1];
  return words.format(unit === "second" ? 0 : Math.trunc(seconds / size), unit);
}

/** Return a time in full, in the reader's zone, `""` when there is none. */
export function moment(iso) {
  return dated(iso, { dateStyle: "medium", timeStyle: "short" });
}

/** Return the day of a time, `""` when there is none. */
export function day(iso) {
  return dated(iso, { dateStyle: "medium" });
}

/** Return the beginning of a stretch of time of that length ("day", "week", "month" or "year"). */
export function stretch(iso, length) {
  // Noon of the day: where clocks are changed in between, midnight may be an hour off.
  const noon = new Date(Date.parse(iso) + 12 * 3600000).toISOString();
  const styles = { year: { year: "numeric" }, month: { year: "numeric", month: "short" } };
  return dated(noon, styles[length] || { dateStyle: "medium" });
}

function dated(iso, style) {
  const time = new Date(iso || "");
  return Number.isNaN(time.getTime()) ? "" : new Intl.DateTimeFormat(locale(), style).format(time);
}

/** Return a count, a dash when it is not known. */
export function count(number) {
  return typeof number === "number" ? new Intl.NumberFormat(locale()).format(number) : "–";
}

/** Return how many there are of something, in words: "3 memories". The words of `key` are "one|several" where that matters. */
export function several(key, number) {
  const forms = t(key, { count: count(number) }).split("|");
  const one = forms.length > 1 && new Intl.PluralRules(locale()).select(number ?? 0) === "one";
  return forms[one ? 0 : forms.length - 1];
}

/** Return a score with two digits after the point, its sign only where asked for. */
export function score(number, signed = false) {
  if (typeof number !== "number") return "–";
  const signDisplay = signed ? "exceptZero" : "auto";
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(locale(), { ...digits, signDisplay }).format(number);
}

/** Return a share of 1 in percent. */
export function percent(share) {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(share);
}

/** Return milliseconds, a dash when they are not known. */
export function milliseconds(number) {
  if (typeof number !== "number") return "–";
  const style = { style: "unit", unit: "millisecond", unitDisplay: "short", maximumFractionDigits: number < 10 ? 1 : 0 };
  return new Intl.NumberFormat(locale(), style).format(number);
}

/** Return a size in bytes, kilobytes or megabytes. */
export function size(bytes) {
  const [unit, by] = bytes < 1e3 ? ["byte", 1] : bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  const unitDisplay = by === 1 ? "long" : "short";
  const style = { style: "unit", unit, unitDisplay, maximumFractionDigits: by === 1e6 ? 1 : 0 };
  return new Intl.NumberFormat(locale(), style).format(bytes / by);
}

/** Return a list as people write it. */
export function listed(texts) {
  return new Intl.ListFormat(locale(), { style: "narrow", type: "conjunction" }).format(texts);
}

/** Return facts as one line, those that there are. */
export function line(facts) {
  return facts.filter(Boolean).map((fact) => apart(String(fact))).join(" · ");
}

/** Return kind of conversation, its id and the icon for it. */
export function conversation(sessionName) {
  const cut = sessionName.indexOf("_");
  const [type, id] = [sessionName.slice(0, cut), sessionName.slice(cut + 1)];
  const common = type === "person" || type === "group";
  return { id, kind: known(`kind.${type}`, type), icon: common ? type : "bubble" };
}
