// Status and importance at a glance, in words for those who do not see them.
import { html } from "../html.js";
import { known, t } from "../i18n.js";

/** The status of a memory. */
export function Status({ status }) {
  return html`<span class="badge ${status}" title=${known(`status.${status}.about`, "") || null}>${known(`status.${status}`, status)}</span>`;
}

/** Importance as bars, 1 to 5. */
export function Importance({ value }) {
  const words = t("importance.of", { value });
  return html`
    <span class="importance" role="img" aria-label=${words} title=${words}>
      ${[1, 2, 3, 4, 5].map((n) => html`<i class=${n <= value ? "on" : ""}></i>`)}
    </span>`;
}

/** A number with its name. */
export function Fact({ name, value, title }) {
  return html`<div><dt>${name}</dt><dd title=${title || null}>${value}</dd></div>`;
}
