// Buttons, and the ones that ask back in their own place: the frame has no dialogs.
import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Icon } from "./icon.js";

/** A button with words; `icon` stands before them, `kind` is "primary", "quiet" or "danger". */
export function Button({ icon, kind = "", busy = false, label, children, disabled, class: more = "", ...rest }) {
  return html`
    <button type="button" class="button ${kind} ${busy ? "busy" : ""} ${more}" disabled=${disabled || busy} aria-busy=${busy ? "true" : null} ...${rest}>
      ${icon && html`<${Icon} name=${busy ? "refresh" : icon} />`}
      ${label || children ? html`<span class="label">${label || children}</span>` : null}
    </button>`;
}

/** A button with a picture only; its words are for screen readers and the pointer. */
export function IconButton({ icon, label, class: more = "", ...rest }) {
  return html`
    <button type="button" class="button quiet small ${more}" aria-label=${label} title=${label} ...${rest}>
      <${Icon} name=${icon} />
    </button>`;
}

/**
 * A button that asks back in its place before it does anything that cannot be undone.
 * @param {Object} props
 * @param {function(): Promise<{question: string, code: string}>} props.ask - says what would happen
 * @param {function(string): Promise} props.run - does it, with the code
 * @param {boolean} props.bare - only its picture is shown
 */
export function Confirm({ icon, label, sure, ask, run, kind = "danger", busy = false, disabled = false, small = false, bare = false }) {
  const [asked, setAsked] = useState(null);
  const box = useRef(null);
  const origin = useRef(null);
  useEffect(() => {
    if (asked) box.current?.querySelector("button.cancel")?.focus();
  }, [asked]);
  const cancel = () => {
    setAsked(null);
    requestAnimationFrame(() => origin.current?.querySelector("button")?.focus());
  };
  const begin = async () => {
    const answer = await ask();
    if (answer) setAsked(answer);
  };
  const go = async () => {
    const { code } = asked;
    setAsked(null);
    await run(code);
  };
  if (!asked) {
    return html`<span class="contents" ref=${origin}>
      ${bare
        ? html`<${IconButton} icon=${icon} label=${label} disabled=${busy || disabled} onClick=${begin} />`
        : html`<${Button} icon=${icon} kind=${kind} class=${small ? "small" : ""} busy=${busy} disabled=${disabled} onClick=${begin}>${label}<//>`}
    </span>`;
  }
  return html`
    <div class="confirm" role="group" aria-label=${asked.question} ref=${box} onKeyDown=${(event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      cancel();
    }}>
      <p>${asked.question}</p>
      <span class="row">
        <${Button} kind="danger solid" onClick=${go}>${sure || label}<//>
        <${Button} class="cancel" onClick=${cancel}>${t("cancel")}<//>
      </span>
    </div>`;
}
