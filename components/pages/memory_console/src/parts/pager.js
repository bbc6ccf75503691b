// Turning pages.
import { html } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

/** Earlier and later pages, and which one this is. Nothing for a single one. */
export function Pager({ page, pages, go, busy = false }) {
  if (!(pages > 1)) return null;
  return html`
    <nav class="pager" aria-label=${t("pager.label")}>
      <${Button} class="small" icon="back" disabled=${page <= 1 || busy} onClick=${() => go(page - 1)} label=${t("pager.previous")} />
      <span>${t("pager.page", { page: count(page), pages: count(pages) })}</span>
      <${Button} class="small after" icon="chevron" disabled=${page >= pages || busy} onClick=${() => go(page + 1)} label=${t("pager.next")} />
    </nav>`;
}
