// What was just done, at the foot of the page, with a way back where there is one. It stays until something else happens.
import { signal } from "../vendor/preact-signals.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "./button.js";

const notice = signal(null);

/** Say something; `undo` takes it back. */
export function notify(text, { undo = null, failed = false } = {}) {
  notice.value = text ? { text, undo, failed } : null;
}

/** The place where it is said. */
export function Notices() {
  const now = notice.value;
  const undo = async () => {
    notice.value = null;
    await now.undo();
  };
  return html`
    <div class="notices" role="status" aria-live="polite">
      ${now && html`
        <div class="notice ${now.failed ? "failed" : ""}">
          <p>${now.text}</p>
          ${now.undo && html`<${Button} class="small" icon="restore" onClick=${undo}>${t("undo")}<//>`}
          <${IconButton} icon="cross" label=${t("dismiss")} onClick=${() => notify("")} />
        </div>`}
    </div>`;
}
