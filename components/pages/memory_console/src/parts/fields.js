// Form fields with their labels.
import { useRef } from "../vendor/preact-hooks.js";
import { html } from "../html.js";

let made = 0;

/** An id that no other element has, the same for a component's whole life. */
export function useName(prefix) {
  const name = useRef("");
  if (!name.current) {
    made += 1;
    name.current = `${prefix}-${made}`;
  }
  return name.current;
}

/** A labelled text field; `change` gets what stands in it. */
export function Text({ label, value, change, hint = "", type = "text", class: more = "", ...rest }) {
  const id = useName("field");
  return html`
    <div class="field ${more}">
      <label for=${id}>${label}</label>
      <input id=${id} type=${type} value=${value} autocomplete="off" spellcheck=${false} onInput=${(e) => change(e.target.value)}
        aria-describedby=${hint ? `${id}-hint` : null} ...${rest} />
      ${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
    </div>`;
}

/** A labelled field for several lines. */
export function Area({ label, value, change, rows = 3, ...rest }) {
  const id = useName("field");
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <textarea id=${id} rows=${rows} value=${value} onInput=${(e) => change(e.target.value)} ...${rest}></textarea>
    </div>`;
}

/** A labelled choice; `options` are [value, words]. */
export function Choice({ label, value, change, options, hidden = false, ...rest }) {
  const id = useName("field");
  return html`
    <div class="field">
      <label for=${id} class=${hidden ? "visually-hidden" : ""}>${label}</label>
      <select id=${id} value=${value} onChange=${(e) => change(e.target.value)} ...${rest}>
        ${options.map(([one, words]) => html`<option value=${one} selected=${one === value}>${words}</option>`)}
      </select>
    </div>`;
}

/** A box to tick, with its words. */
export function Tick({ label, checked, change, hidden = false, ...rest }) {
  return html`
    <label class="tick">
      <input type="checkbox" checked=${checked} onChange=${(e) => change(e.target.checked)} aria-label=${hidden ? label : null} ...${rest} />
      ${!hidden && html`<span>${label}</span>`}
    </label>`;
}

/** A file that a person picks. */
export function FilePicker({ label, change, accept }) {
  const id = useName("file");
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input id=${id} class="file" type="file" accept=${accept} onChange=${(e) => change(e.target.files[0] || null)} />
    </div>`;
}
