// Words of all languages are inlined in the page: the frame it runs in cannot load files beside it.
import { byId } from "./dom.js";

const FALLBACK = "en_US";
const WORDS = JSON.parse(byId("i18n").textContent);
let language = FALLBACK;

/** Take the language that LangBot shows, such as `zh-Hans`; the nearest one we have is used. */
export function setLanguage(tag) {
  const wanted = String(tag || "").replace(/-/g, "_");
  const [first, region = ""] = wanted.split("_");
  const nearest = first === "zh" && /^(hant|tw|hk|mo)$/i.test(region) ? "zh_Hant" : first === "zh" ? "zh_Hans" : null;
  const sameFirst = Object.keys(WORDS).find((name) => name.split("_")[0] === first);
  language = WORDS[wanted] ? wanted : nearest || sameFirst || FALLBACK;
  document.documentElement.lang = locale();
  document.title = t("title");
}

/** Return the language in use, such as `zh_Hans`. */
export function currentLanguage() {
  return language;
}

/** Return it as a language tag for `Intl` and for the `lang` attribute, such as `zh-Hans`. */
export function locale() {
  return language.replace("_", "-");
}

/** Return the words of `key` with `{placeholders}` filled; the key itself when nobody has them. */
export function t(key, values = {}) {
  const words = WORDS[language][key] ?? WORDS[FALLBACK][key] ?? key;
  return words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Whether there are words for that key. */
export function has(key) {
  return key in WORDS[FALLBACK];
}

/** Fill in the fixed parts of the page: `data-t`, `data-t-placeholder`, `data-t-label`. */
export function translatePage() {
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-t-placeholder]")) {
    node.setAttribute("placeholder", t(node.dataset.tPlaceholder));
  }
  for (const node of document.querySelectorAll("[data-t-label]")) {
    node.setAttribute("aria-label", t(node.dataset.tLabel));
  }
}
