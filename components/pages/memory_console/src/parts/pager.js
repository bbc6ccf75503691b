// Turning pages.
import { useEffect, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";

const MANY = 3; // from more pages than that on, one can be gone to by its number

/** Earlier and later pages, and which one this is. Nothing for a single one. */
export function Pager({ page, pages, go, busy = false }) {
  if (!(pages > 1)) return null;
  return html`
    <nav class="pager" aria-label=${t("pager.label")} aria-busy=${busy ? "true" : "false"}>
      <${Button} class="small" icon="back" disabled=${page <= 1 || busy} onClick=${() => go(page - 1)} label=${t("pager.previous")} />
      ${pages > MANY ? html`<${Jump} page=${page} pages=${pages} go=${go} />` : html`<span>${t("pager.page", { page: count(page), pages: count(pages) })}</span>`}
      <${Button} class="small after" icon="chevron" disabled=${page >= pages || busy} onClick=${() => go(page + 1)} label=${t("pager.next")} />
    </nav>`;
}

/** The number of the page as a field: what is typed is gone to with Enter or on leaving it; what is no page is put right. */
function Jump({ page, pages, go }) {
  const [text, setText] = useState(String(page));
  useEffect(() => setText(String(page)), [page]);
  const jump = (event) => {
    event?.preventDefault();
    const wanted = Math.min(pages, Math.max(1, Math.trunc(Number(text)) || page));
    setText(String(wanted));
    if (wanted !== page) go(wanted);
  };
  const [before, after] = t("pager.page", { page: "\n", pages: count(pages) }).split("\n");
  return html`
    <form class="jump" novalidate onSubmit=${jump}>
      <span aria-hidden="true">${before}</span>
      <input type="text" inputmode="numeric" value=${text} size=${Math.max(2, String(pages).length)} aria-label=${t("pager.page", { page: count(page), pages: count(pages) })}
        autocomplete="off" onInput=${(e) => setText(e.target.value)} onFocus=${(e) => e.target.select()} onBlur=${() => jump()} />
      <span aria-hidden="true">${after}</span>
    </form>`;
}
