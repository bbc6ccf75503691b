// Words of all languages are inlined in the page: the frame it runs in cannot load files beside it.
import { signal } from "./vendor/preact-signals.js";

const FALLBACK = "en_US";
const WORDS = JSON.parse(document.getElementById("i18n").textContent);

/** The language in use, such as `zh_Hans`; whoever reads it is drawn again when it changes. */
export const language = signal(FALLBACK);

/** Take the language that LangBot shows, such as `zh-Hans`; the nearest one we have is used. */
export function setLanguage(tag) {
  const wanted = String(tag || "").replace(/-/g, "_");
  const [first, region = ""] = wanted.split("_");
  const nearest = first === "zh" && /^(hant|tw|hk|mo)$/i.test(region) ? "zh_Hant" : first === "zh" ? "zh_Hans" : null;
  const sameFirst = Object.keys(WORDS).find((name) => name.split("_")[0] === first);
  language.value = WORDS[wanted] ? wanted : nearest || sameFirst || FALLBACK;
  document.documentElement.lang = locale();
  document.title = t("title");
}

/** Return the language as a tag for `Intl` and for the `lang` attribute, such as `zh-Hans`. */
export function locale() {
  return language.value.replace("_", "-");
}

/** Return the words of `key` with `{placeholders}` filled; the key itself when nobody has them. */
export function t(key, values = {}) {
  const words = WORDS[language.value][key] ?? WORDS[FALLBACK][key] ?? key;
  return words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? apart(String(values[name])) : whole));
}

const OTHER_WAY = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]|\ud83a[\udc00-\udfff]/;

/** Return people's text so that it cannot turn around the words beside it, whichever way it is written. */
export function apart(text) {
  return OTHER_WAY.test(text) ? `\u2068${text}\u2069` : text;
}

/** Return the words of `key`, or what to say when there are none: names that come from the server may be newer. */
export function known(key, otherwise) {
  return key in WORDS[FALLBACK] ? t(key) : otherwise;
}
