// What an import did, or would do: numbers, then what is to be said about single rows.
import { html } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { Fact } from "./badges.js";
import { Problem } from "./state.js";

/** The report; `preview` when nothing was written. */
export function Report({ report, preview = false }) {
  const more = report.rejected_total - report.rejected.length;
  return html`
    <div class="stack report">
      <dl class="facts">
        <${Fact} name=${t(preview ? "import.wouldAccept" : "import.accepted")} value=${count(report.accepted)} />
        <${Fact} name=${t("import.skipped")} value=${count(report.skipped)} />
        <${Fact} name=${t("import.rejected")} value=${count(report.rejected_total)} />
        <${Fact} name=${t("import.profiles")} value=${count(report.profiles)} />
      </dl>
      ${report.format && html`<p class="hint">${t("import.format", { format: report.format })}</p>`}
      ${report.ignored_profiles > 0 && html`<p class="hint">${t("import.ignored", { count: count(report.ignored_profiles) })}</p>`}
      <${Problem} text=${report.stopped} />
      <${Rows} title=${t("import.rejectedRows")} rows=${report.rejected} />
      ${more > 0 && html`<p class="hint">${t("import.moreRows", { count: count(more) })}</p>`}
      <${Rows} title=${t("import.notes")} rows=${report.notes} />
    </div>`;
}

function Rows({ title, rows }) {
  if (!rows.length) return null;
  return html`
    <div class="table" tabindex="0" role="region" aria-label=${title}>
      <table class="narrow">
        <caption>${title}</caption>
        <thead><tr><th scope="col">${t("import.row")}</th><th scope="col">${t("import.why")}</th></tr></thead>
        <tbody>${rows.map((row) => html`<tr><td>${count(row.line)}</td><td>${row.text}</td></tr>`)}</tbody>
      </table>
    </div>`;
}

/**
 * Add the report of the next request to the sum of those before it.
 * @param {Object|null} sum
 * @param {Object|null} previous - the report of the request before this one
 * @param {Object} next
 * @returns {Object} the sum; what a file that was begun again tells a second time counts once
 */
export function added(sum, previous, next) {
  if (!sum) return next;
  const again = previous.remaining > 0;
  const fresh = (name, known) => next[name] - (again ? Math.min(next[name], known) : 0);
  return {
    ...next,
    accepted: sum.accepted + next.accepted,
    profiles: sum.profiles + fresh("profiles", previous.profiles),
    skipped: sum.skipped + fresh("skipped", previous.accepted + previous.skipped),
    rejected: again ? next.rejected : [...sum.rejected, ...next.rejected],
    rejected_total: sum.rejected_total + fresh("rejected_total", previous.rejected_total),
    notes: again ? next.notes : [...sum.notes, ...next.notes],
  };
}
