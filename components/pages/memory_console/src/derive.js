// The form that opens a space by bot, session and isolation, whether or not anything is stored in it.
import { signal } from "./vendor/preact-signals.js";
import { useState } from "./vendor/preact-hooks.js";
import { html } from "./html.js";
import { useAction } from "./answers.js";
import { ask } from "./api.js";
import { t } from "./i18n.js";
import { Button } from "./parts/button.js";
import { Choice, Text } from "./parts/fields.js";
import { Icon } from "./parts/icon.js";
import { Problem } from "./parts/state.js";
import { openSpace } from "./place.js";
import { spaces } from "./spaces.js";

/** Whether the raw keys of the open space are shown; whoever derives a space asked for them. */
export const keysShown = signal(false);

/** The form, folded away at first. */
export function Derive() {
  const [form, setForm] = useState({ session_name: "", bot_uuid: "", isolation: "" });
  const { busy, failure, run } = useAction();
  const set = (name) => (value) => setForm((before) => ({ ...before, [name]: value }));
  const bots = [...new Set(spaces.value.list.map((one) => one.bot_uuid).filter(Boolean))].sort();
  const derive = (event) => {
    event.preventDefault();
    run(async () => {
      const body = { bot_uuid: form.bot_uuid.trim(), session_name: form.session_name.trim(), isolation: form.isolation || null };
      const found = await ask("/derive", body);
      keysShown.value = true;
      openSpace({ ...found.space, unknown: !found.known });
    });
  };
  const isolations = [["", t("derive.asConfigured")], ["session", t("isolation.session")], ["bot", t("isolation.bot")]];
  return html`
    <details class="derive">
      <summary><${Icon} name="chevron" /><span>${t("derive.title")}</span></summary>
      <form class="card stack" novalidate onSubmit=${derive}>
        <p class="hint">${t("derive.help")}</p>
        <${Text} label=${t("derive.session")} value=${form.session_name} change=${set("session_name")} placeholder="group_123"
          aria-invalid=${failure ? "true" : "false"} />
        <${Text} label=${t("derive.bot")} value=${form.bot_uuid} change=${set("bot_uuid")} placeholder=${t("derive.botPlaceholder")} list="bots" />
        <datalist id="bots">${bots.map((bot) => html`<option value=${bot}></option>`)}</datalist>
        <${Choice} label=${t("derive.isolation")} value=${form.isolation} change=${set("isolation")} options=${isolations} />
        <${Problem} failure=${failure} />
        <${Button} type="submit" kind="primary" busy=${busy}>${t("derive.submit")}<//>
      </form>
    </details>`;
}
