// Panels side by side, one shown at a time; arrow keys go from one to the next.
import { useRef } from "../vendor/preact-hooks.js";
import { html } from "../html.js";

/** The row of tabs; `tabs` are [name, words]. */
export function Tabs({ tabs, current, choose, label }) {
  const row = useRef(null);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const end = { Home: 0, End: tabs.length - 1 }[event.key];
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === current);
    const next = end ?? (at + step + tabs.length) % tabs.length;
    choose(tabs[next][0]);
    row.current.children[next].focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} ref=${row} onKeyDown=${move}>
      ${tabs.map(([name, words]) => html`
        <button type="button" role="tab" id="tab-${name}" key=${name} aria-selected=${name === current ? "true" : "false"}
          aria-controls="panel" tabindex=${name === current ? 0 : -1} onClick=${() => choose(name)}>${words}</button>`)}
    </div>`;
}
