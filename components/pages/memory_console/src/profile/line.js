// A field of a profile that holds one text: the name, the notes.
import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "../parts/button.js";

/** The field; `long` for several lines. */
export function Line({ field, profile, change, busy, locked, max, long = false }) {
  const [text, setText] = useState(null); // null: not being edited
  const box = useRef(null);
  const value = profile[field];
  const label = t(`field.${field}`);
  useEffect(() => {
    if (text !== null) box.current?.querySelector("input, textarea")?.focus();
  }, [text === null]);
  const save = async (event) => {
    event.preventDefault();
    const wanted = text.trim();
    // Notes are replaced only if they are still what is seen here: somebody may have added to them.
    const seen = long && value ? { previous_value: value } : {};
    const back = value ? ["set", { value }] : ["clear", {}];
    const done = wanted === value || (await (wanted ? change(field, "set", { value: wanted, ...seen }, back) : change(field, "clear", {}, back)));
    if (done) setText(null);
  };
  const Tag = long ? "textarea" : "input";
  if (text !== null) {
    return html`
      <form class="slot" novalidate ref=${box} onSubmit=${save} onKeyDown=${(e) => e.key === "Escape" && setText(null)}>
        <h4 id="${field}-${profile.sender_id}">${label}</h4>
        <div class="stack">
          <${Tag} value=${text} maxlength=${max} rows=${long ? 4 : null} aria-labelledby="${field}-${profile.sender_id}" autocomplete="off" onInput=${(e) => setText(e.target.value)} />
          <div class="row"><${Button} type="submit" class="small" kind="primary" busy=${busy}>${t("save")}<//><${Button} class="small" onClick=${() => setText(null)}>${t("cancel")}<//></div>
        </div>
      </form>`;
  }
  return html`
    <div class="slot" data-field=${field}>
      <h4>${label}</h4>
      <div class="row start">
        <p class="grow ${value ? "content" : "hint"}">${value || t("profile.nothing")}</p>
        ${!locked && html`<${IconButton} icon="edit" label=${t("profile.edit", { field: label })} onClick=${() => setText(value)} />`}
      </div>
    </div>`;
}
