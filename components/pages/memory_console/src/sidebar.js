// The list of memory spaces: search, order, how much is in each, and the form that opens one by its name.
import { useRef } from "./vendor/preact-hooks.js";
import { html } from "./html.js";
import { Derive } from "./derive.js";
import { ago, conversation, count, line, moment, several } from "./format.js";
import { t } from "./i18n.js";
import { Button } from "./parts/button.js";
import { Choice } from "./parts/fields.js";
import { Icon } from "./parts/icon.js";
import { Skeleton } from "./parts/state.js";
import { openSpace, space, view } from "./place.js";
import { loadMore, loading, lookFor, search, sort, spaces } from "./spaces.js";

const PAUSE = 250;

/** The left side. */
export function Sidebar() {
  const { phase, list, total, untold } = spaces.value;
  const pause = useRef(0);
  const type = (text) => {
    clearTimeout(pause.current);
    pause.current = setTimeout(() => lookFor({ search: text.trim() }), PAUSE);
  };
  return html`
    <nav class="side" aria-label=${t("spaces.title")} aria-busy=${loading.value ? "true" : "false"}>
      <div class="search">
        <${Icon} name="search" />
        <input id="search" type="search" autocomplete="off" spellcheck=${false} placeholder=${t("spaces.placeholder")}
          aria-label=${t("spaces.search")} onInput=${(e) => type(e.target.value)} />
      </div>
      <div class="row between">
        <p class="hint" role="status">${summary(phase, list.length, total)}</p>
        <${Choice} label=${t("spaces.sort")} hidden value=${sort.value} change=${(by) => lookFor({ sort: by })} class="plain"
          options=${[["activity", t("sort.activity")], ["name", t("sort.name")]]} />
      </div>
      ${phase === "loading" && html`<${Skeleton} rows=${5} />`}
      ${list.length > 0 && html`<ul class="spaces">${list.map((one) => html`<${Row} key=${one.space_id} one=${one} />`)}</ul>`}
      ${list.length < total && html`<${Button} busy=${loading.value} onClick=${loadMore}>${t("spaces.more")}<//>`}
      ${untold > 0 && html`<p class="hint">${t("spaces.untold", { count: count(untold) })}</p>`}
      <${Derive} />
    </nav>`;
}

function Row({ one }) {
  const { id, kind, icon } = conversation(one.session_name);
  const open = !view.value && space.value?.space_id === one.space_id;
  const counted = typeof one.episodes === "number"; // not before the second answer, nor without a knowledge base
  const facts = [kind, counted && several("count.memories", one.episodes), several("count.profiles", one.profiles)];
  return html`
    <li>
      <button type="button" class="space" data-space=${one.space_id} title=${one.session_name} aria-current=${open ? "true" : null} onClick=${() => openSpace(one)}>
        <${Icon} name=${icon} />
        <span class="name">${id || one.session_name}</span>
        <span class="when" title=${moment(one.last_activity)}>${ago(one.last_activity)}</span>
        <span class="more">${line(facts)}</span>
      </button>
    </li>`;
}

function summary(phase, shown, total) {
  if (phase === "loading") return t("spaces.loading");
  if (!shown) return search.value ? t("spaces.noMatch", { query: search.value }) : "";
  return shown < total ? t("spaces.some", { shown: count(shown), total: count(total) }) : t("spaces.all", { count: count(total) });
}
