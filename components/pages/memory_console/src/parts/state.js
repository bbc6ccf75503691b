// What stands where there is nothing to show, nothing yet, or something went wrong.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";
import { Icon } from "./icon.js";

/** A message in place of content. */
export function State({ picture = "bubble", title, text, steps = [], action, failed = false, small = false, level = 2 }) {
  return html`
    <div class="state ${failed ? "failed" : ""} ${small ? "small" : ""}" role=${failed ? "alert" : null}>
      <${Icon} name=${picture} />
      <${`h${level}`}>${title}<//>
      ${text && html`<p>${text}</p>`}
      ${steps.length > 0 && html`<ol>${steps.map((step) => html`<li>${step}</li>`)}</ol>`}
      ${action && html`<${Button} onClick=${action.run}>${action.label}<//>`}
    </div>`;
}

/** What went wrong, with another try. */
export function Failed({ failure, again, title = t("failed.title") }) {
  const action = again ? { label: t("retry"), run: again } : null;
  return html`<${State} picture="alert" failed title=${title} text=${failure.message} action=${action} level="3" />`;
}

/** One line about what went wrong, beside what a person was doing. */
export function Problem({ failure, text }) {
  const words = text || failure?.message;
  return words ? html`<p class="problem" role="alert"><${Icon} name="alert" /><span>${words}</span></p>` : null;
}

/** Grey bars in the shape of what comes; they appear only when it takes a while. */
export function Skeleton({ rows = 3, lines = 2 }) {
  return html`
    <div class="skeletons" role="status">
      <span class="visually-hidden">${t("loading")}</span>
      ${Array.from({ length: rows }, () => html`
        <div class="skeleton" aria-hidden="true">${Array.from({ length: lines }, () => html`<i></i>`)}</div>`)}
    </div>`;
}

/**
 * Draw an answer: bars before the first one, the failure if there is none, else what `children` makes of it, a little
 * paler while the next one is on its way.
 */
export function Answer({ of: { data, failure, busy, waits, reload }, rows = 3, lines = 2, children }) {
  if (!data && failure) return html`<${Failed} failure=${failure} again=${reload} />`;
  const slow = waits ? html`<p class="hint slow" role="status"><${Icon} name="refresh" /><span>${waits}</span></p>` : null;
  if (!data) return html`${slow}<${Skeleton} rows=${rows} lines=${lines} />`;
  return html`
    ${slow}
    ${failure && html`<${Problem} failure=${failure} />`}
    <div class="answer ${busy ? "waiting" : ""}" aria-busy=${busy ? "true" : "false"}>${children(data)}</div>`;
}
