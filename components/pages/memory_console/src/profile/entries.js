// A field of a profile that is a list: traits, preferences. A keyed entry keeps what it said before.
import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { ago, count, day, line, moment, percent } from "../format.js";
import { known, t } from "../i18n.js";
import { Button, Confirm, IconButton } from "../parts/button.js";

/** The list, with a way to add to it. */
export function Entries({ field, profile, limits, change, busy, locked, most }) {
  const [adding, setAdding] = useState(false);
  const entries = profile[field];
  const label = t(`field.${field}`);
  const used = entries.filter((entry) => entry.value).length;
  const shared = { field, change, busy, locked, limits };
  return html`
    <div class="slot" data-field=${field}>
      <h4>${label} <span class="hint">${t("profile.used", { used: count(used), most: count(most) })}</span></h4>
      <div class="stack">
        ${entries.length > 0
          ? html`<ul class="entries">${entries.map((entry, n) => html`<${Entry} key=${`${entry.fact_key}|${entry.value}|${n}`} entry=${entry} ...${shared} />`)}</ul>`
          : !adding && html`<p class="hint">${t("profile.nothing")}</p>`}
        ${adding
          ? html`<${Form} label=${label} keyed busy=${busy} limits=${limits} cancel=${() => setAdding(false)}
              save=${async (value, key) => {
                const done = await change(field, key ? "set" : "add", { value, fact_key: key }, key ? null : ["remove", { value }]);
                if (done) setAdding(false);
              }} />`
          : !locked && html`<div><${Button} class="small" kind="quiet" icon="plus" aria-label=${t("profile.addTo", { field: label })} onClick=${() => setAdding(true)}>${t("profile.add")}<//></div>`}
      </div>
    </div>`;
}

function Entry({ entry, field, change, busy, locked, limits }) {
  const [editing, setEditing] = useState(false);
  const { value, fact_key: key, history } = entry;
  if (editing) {
    const save = async (text) => {
      const place = key ? { fact_key: key } : { previous_value: value };
      const back = key ? { fact_key: key, value } : { previous_value: text, value };
      if (text === value || (await change(field, "set", { value: text, ...place }, value ? ["set", back] : null))) setEditing(false);
    };
    return html`<li><${Form} label=${t(`field.${field}`)} first=${value} busy=${busy} limits=${limits} cancel=${() => setEditing(false)} save=${save} /></li>`;
  }
  const removal = t("profile.removeEntry", { about: key || value.slice(0, 40) });
  const place = key ? { fact_key: key } : { value }; // by its key it takes along what was said before, so that asks back
  const back = key ? ["set", { fact_key: key, value }] : ["add", { value }];
  const remove = () => change(field, "remove", place, history.length ? null : back);
  return html`
    <li>
      <div class="row start">
        <div class="grow">
          <p class="content">${key && html`<span class="key">${key}</span> `}${value || html`<span class="hint">${t("profile.former")}</span>`}</p>
          ${entry.updated_at && html`<p class="hint" title=${moment(entry.updated_at)}>${t("profile.since", { when: ago(entry.updated_at) })}${entry.confidence !== null && ` · ${t("profile.confidence", { share: percent(entry.confidence) })}`}</p>`}
          ${history.length > 0 && html`<${History} history=${history} />`}
        </div>
        ${!locked && html`
          <${IconButton} icon="edit" label=${t("profile.editEntry", { about: key || value.slice(0, 40) })} onClick=${() => setEditing(true)} />
          ${value && !history.length && html`<${IconButton} icon="cross" disabled=${busy} label=${removal} onClick=${remove} />`}`}
        ${!locked && history.length > 0 && html`
          <${Confirm} bare icon="cross" busy=${busy} label=${removal} sure=${t("delete")} run=${remove}
            ask=${async () => ({ question: t("profile.removeQuestion", { about: key, count: count(history.length) }) })} />`}
      </div>
    </li>`;
}

function History({ history }) {
  return html`
    <details class="history">
      <summary>${t("profile.history", { count: count(history.length) })}</summary>
      <ol>${history.map((former) => html`
        <li><s>${former.value}</s> <span class="hint">${line([former.at && t("profile.until", { when: day(former.at) }), known(`reason.${former.reason}`, former.reason)])}</span></li>`)}
      </ol>
    </details>`;
}

/** The form for an entry; `keyed` asks for the key of a fact as well. */
function Form({ label, first = "", keyed = false, busy, limits, save, cancel }) {
  const [text, setText] = useState(first);
  const [key, setKey] = useState("");
  const box = useRef(null);
  useEffect(() => box.current?.querySelector("input")?.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) save(text.trim(), key.trim());
  };
  return html`
    <form class="stack" novalidate ref=${box} onSubmit=${submit} onKeyDown=${(e) => e.key === "Escape" && cancel()}>
      <input value=${text} maxlength=${limits.entry_chars} aria-label=${label} placeholder=${t("profile.entryPlaceholder")} autocomplete="off" onInput=${(e) => setText(e.target.value)} />
      ${keyed && html`<input value=${key} maxlength=${limits.key_chars} aria-label=${t("profile.key")} placeholder=${t("profile.keyPlaceholder")} autocomplete="off" onInput=${(e) => setKey(e.target.value)} />`}
      <div class="row"><${Button} type="submit" class="small" kind="primary" busy=${busy}>${t("save")}<//><${Button} class="small" onClick=${cancel}>${t("cancel")}<//></div>
    </form>`;
}
