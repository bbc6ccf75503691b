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

/** Add the report of the next request to those before it: an import goes on until nothing remains. */
export function added(before, next) {
  if (!before) return next;
  const sum = (name) => before[name] + next[name];
  // What was taken in before is found again as a duplicate: that is no skipping to speak of.
  return {
    ...next,
    accepted: sum("accepted"),
    profiles: Math.max(before.profiles, next.profiles),
    skipped: Math.max(0, next.skipped - before.accepted),
    rejected: next.rejected.length ? next.rejected : before.rejected,
    rejected_total: Math.max(before.rejected_total, next.rejected_total),
  };
}
