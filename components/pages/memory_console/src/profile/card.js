// One profile: name, traits, preferences, notes, each of them changed in its place, by the rules the bot keeps to.
import { useEffect, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction } from "../answers.js";
import { ask } from "../api.js";
import { ago, line, moment } from "../format.js";
import { t } from "../i18n.js";
import { Button } from "../parts/button.js";
import { Erase } from "../parts/erase.js";
import { Icon } from "../parts/icon.js";
import { notify } from "../parts/notice.js";
import { openPanel } from "../place.js";
import { Line } from "./line.js";
import { Entries } from "./entries.js";

/** The card of the conversation (no `sender_id`) or of a person. */
export function Profile({ space, profile: given, limits, after }) {
  const [profile, setProfile] = useState(given);
  useEffect(() => setProfile(given), [given]);
  const { sender_id: senderId } = profile;
  const { busy, failure, run } = useAction();
  /** Change a field; whether that was done. `undo` is what takes it back. */
  const change = (field, action, more, undo = null) => run(async () => {
    const answer = await ask("/profile_change", { space_id: space.space_id, sender_id: senderId, field, action, ...more });
    setProfile(answer.profile);
    if (!answer.written && answer.outcome !== "unchanged") throw new Error(answer.text);
    notify(answer.text, { undo: answer.written && undo ? () => change(field, ...undo) : null });
  });
  const name = senderId ? profile.sender_name || profile.name || senderId : t("profile.session");
  const shared = { profile, limits, change, busy, locked: profile.off };
  return html`
    <article class="card profile" aria-label=${name} data-sender=${senderId}>
      <header class="row">
        <${Icon} name=${senderId ? "person" : "group"} />
        <div class="grow">
          <h3 title=${name}>${name}</h3>
          <p class="hint">${about(profile)}</p>
        </div>
        ${senderId && html`<${Button} class="small" kind="quiet" onClick=${() => openPanel("memories", { sender_id: senderId })}>${t("profile.memories")}<//>`}
      </header>
      ${profile.off && html`<p class="note">${t("profile.off")}</p>`}
      ${failure && html`<p class="problem" role="alert"><${Icon} name="alert" /><span>${failure.message}</span></p>`}
      <${Line} field="name" max=${limits.name_chars} ...${shared} />
      <${Entries} field="traits" most=${limits.traits} ...${shared} />
      <${Entries} field="preferences" most=${limits.preferences} ...${shared} />
      <${Line} field="notes" long max=${limits.notes_chars} ...${shared} />
      ${profile.history_cut && html`<p class="hint">${t("profile.historyCut")}</p>`}
      ${senderId && html`<footer class="row wrap"><${Erase} endpoint="/erase_person" body=${{ sender_id: senderId }} label=${t("erase.person")} small done=${after} /></footer>`}
    </article>`;
}

function about(profile) {
  const facts = profile.sender_id ? [profile.sender_id] : [t("profile.sessionHint")];
  facts.push(profile.stored && profile.updated_at ? t("profile.updated", { when: ago(profile.updated_at) || moment(profile.updated_at) }) : t("profile.empty"));
  return line(facts);
}
