// Which memories are shown: by status, speaker, tag, time, importance and source.
import { useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { count } from "../format.js";
import { apart, known, t } from "../i18n.js";
import { Button } from "../parts/button.js";
import { Choice, Text } from "../parts/fields.js";

export const STATUSES = ["active", "archived", "superseded"];

/** What is shown at first. */
export const EVERYTHING = { statuses: STATUSES, sender_id: "", tag: "", source: "", session: "", importance_min: 1, after: "", before: "" };

/** Return what a request says of filters: only those that narrow. */
export function asked(filters) {
  const { statuses, importance_min: least, ...texts } = filters;
  const set = Object.fromEntries(Object.entries(texts).filter(([, value]) => value));
  return { ...set, statuses, ...(least > 1 ? { importance_min: least } : {}) };
}

/** How many filters narrow what is shown, statuses apart. */
export function narrowing(filters) {
  return Object.keys(asked(filters)).length - 1;
}

/** The row of statuses, and the fields for the rest behind a button; `shared`: the space holds several conversations. */
export function Filters({ filters, change, facets, shared }) {
  const [open, setOpen] = useState(false);
  const set = (name) => (value) => change({ ...filters, [name]: value });
  const toggle = (status) => {
    const kept = STATUSES.filter((one) => filters.statuses.includes(one) !== (one === status));
    change({ ...filters, statuses: kept.length ? kept : STATUSES });
  };
  const number = narrowing(filters);
  return html`
    <div class="row wrap filters">
      <div class="chips" role="group" aria-label=${t("filter.status")}>
        ${STATUSES.map((status) => html`
          <button type="button" class="chip ${status}" aria-pressed=${filters.statuses.includes(status) ? "true" : "false"} title=${t(`status.${status}.about`)} onClick=${() => toggle(status)}>${t(`status.${status}`)}</button>`)}
      </div>
      <${Button} class="small" icon="filter" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>${number ? t("filter.some", { count: count(number) }) : t("filter.title")}<//>
      ${number > 0 && html`<${Button} class="small" kind="quiet" icon="cross" onClick=${() => change({ ...EVERYTHING, statuses: filters.statuses })}>${t("filter.clear")}<//>`}
    </div>
    ${open && html`
      <div class="card grid-fields">
        <${Choice} label=${t("memory.speaker")} value=${filters.sender_id} change=${set("sender_id")} options=${senders(facets, filters)} />
        <${Choice} label=${t("memory.tag")} value=${filters.tag} change=${set("tag")} options=${tags(facets, filters)} />
        <${Choice} label=${t("memory.source")} value=${filters.source} change=${set("source")} options=${sources(facets, filters)} />
        ${shared && html`<${Text} label=${t("memory.session")} value=${filters.session} change=${set("session")} placeholder="group_123" />`}
        <${Choice} label=${t("filter.importance")} value=${String(filters.importance_min)} change=${(v) => set("importance_min")(Number(v))}
          options=${[["1", t("filter.any")], ...["2", "3", "4", "5"].map((n) => [n, t("filter.atLeast", { value: n })])]} />
        <${Text} type="date" label=${t("filter.after")} value=${asDay(filters.after, 0)} change=${(v) => set("after")(asTime(v, 0))} />
        <${Text} type="date" label=${t("filter.until")} value=${asDay(filters.before, -1)} change=${(v) => set("before")(asTime(v, 1))} />
      </div>`}`;
}

function senders({ senders: found = [] }, { sender_id: chosen }) {
  const rows = found.map((one) => [one.id, `${apart(one.name || one.id)} (${count(one.count)})`]);
  return offered(rows, chosen);
}

function tags({ tags: found = [] }, { tag }) {
  return offered(found.map((one) => [one.tag, `${apart(one.tag)} (${count(one.count)})`]), tag);
}

function sources({ sources: found = [] }, { source }) {
  const rows = found.map((one) => (typeof one === "string" ? [one, one] : [one.source, `${known(`source.${one.source}`, apart(one.source))} (${count(one.count)})`]));
  return offered(rows, source);
}

/** What was chosen stays on offer, also when nothing of it is shown any more. */
function offered(rows, chosen) {
  const missing = chosen && !rows.some(([value]) => value === chosen) ? [[chosen, chosen]] : [];
  return [["", t("filter.any")], ...missing, ...rows.filter(([value]) => value)];
}

/** Days are the reader's: from midnight to midnight there. The last day counts whole. */
function asTime(text, days) {
  if (!text) return "";
  const [year, month, date] = text.split("-").map(Number);
  return new Date(year, month - 1, date + days).toISOString();
}

function asDay(iso, milliseconds) {
  if (!iso) return "";
  const at = new Date(Date.parse(iso) + milliseconds);
  const two = (number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
