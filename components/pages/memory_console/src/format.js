// How facts about a space read.
import { locale, t } from "./i18n.js";

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
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return "";
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(time);
}

/** Return a count, a dash when it is not known. */
export function count(number) {
  return typeof number === "number" ? new Intl.NumberFormat(locale()).format(number) : "–";
}

/** Return kind of conversation, its id and the icon for it. */
export function conversation(space) {
  const cut = space.session_name.indexOf("_");
  const [type, id] = [space.session_name.slice(0, cut), space.session_name.slice(cut + 1)];
  const known = type === "person" || type === "group";
  return { id, kind: known ? t(`kind.${type}`) : type, icon: known ? type : "bubble" };
}
