// What concerns the whole memory: its backup, files whose rows say where they belong, and erasing a person everywhere.
import { useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction, useAnswer } from "../answers.js";
import { ask } from "../api.js";
import { ago, count, moment, size } from "../format.js";
import { t } from "../i18n.js";
import { Fact } from "../parts/badges.js";
import { Button, Confirm } from "../parts/button.js";
import { Erase } from "../parts/erase.js";
import { Text } from "../parts/fields.js";
import { FileImport } from "../parts/file_import.js";
import { notify } from "../parts/notice.js";
import { added, Report } from "../parts/report.js";
import { Answer, Problem } from "../parts/state.js";
import { Parts } from "../parts/text_parts.js";
import { loadSpaces } from "../spaces.js";

/** The view. */
export function WholeMemory() {
  const [sender, setSender] = useState("");
  const done = () => {
    setSender("");
    loadSpaces();
  };
  return html`
    <h2>${t("view.whole")}</h2>
    <div class="stack panel">
      <section class="card stack" aria-labelledby="backup"><h3 id="backup">${t("backup.title")}</h3>
        <p class="hint">${t("backup.help")}</p><${Backup} />
      </section>
      <section class="card stack" aria-labelledby="file"><h3 id="file">${t("restoreFile.title")}</h3>
        <p class="hint">${t("restoreFile.help")}</p>
        <${FileImport} endpoint="/restore_file" done=${loadSpaces} />
      </section>
      <section class="card stack danger-zone" aria-labelledby="person"><h3 id="person">${t("erase.personTitle")}</h3>
        <p class="hint">${t("erase.personHelp")}</p>
        <${Text} label=${t("erase.senderId")} value=${sender} change=${setSender} hint=${t("erase.senderHint")} />
        <div><${Erase} key=${sender} endpoint="/erase_person" body=${{ sender_id: sender.trim() }} label=${t("erase.person")} disabled=${!sender.trim()} done=${done} /></div>
      </section>
    </div>`;
}

function Backup() {
  const answer = useAnswer("/backup", {});
  const [progress, setProgress] = useState("");
  const [report, setReport] = useState(null);
  const [shown, setShown] = useState(false);
  const { busy, failure, run } = useAction();
  const make = () => run(async (alive) => {
    setShown(false);
    let made;
    do {
      made = await ask("/backup_make");
      if (alive()) setProgress(made.remaining ? t("backup.making", { count: count(made.remaining) }) : "");
    } while (made.remaining && alive());
    notify(t("backup.made"));
    await answer.reload();
  });
  const restore = () => run(async (alive) => {
    let [whole, before, step] = [null, null, null];
    do {
      before = step?.report;
      step = await ask("/backup_restore");
      whole = added(whole, before, step.report);
      if (alive()) {
        setReport(whole);
        setProgress(step.done ? "" : t("backup.restoring", { part: count(step.part), parts: count(step.parts) }));
      }
    } while (!step.done && !step.report.stopped && alive());
    notify(t(step.done ? "backup.restored" : "backup.stopped"), { failed: !step.done });
    loadSpaces();
  });
  const drop = () => run(async () => {
    setShown(false);
    await ask("/backup_drop");
    notify(t("backup.dropped"));
    await answer.reload();
  });
  return html`
    <${Answer} of=${answer} rows=${1}>
      ${({ kept }) => html`
        ${kept ? html`<${Kept} kept=${kept} />` : html`<p>${t("backup.none")}</p>`}
        <div class="row wrap">
          <${Button} kind=${kept ? "" : "primary"} icon="box" busy=${busy} onClick=${make}>${t(kept ? "backup.again" : "backup.make")}<//>
          ${kept && html`
            <${Button} onClick=${() => setShown(!shown)} aria-expanded=${shown ? "true" : "false"}>${t("backup.show")}<//>
            <${Confirm} kind="" icon="restore" label=${t("backup.restore")} busy=${busy} run=${restore} ask=${async () => ({ question: t("backup.restoreQuestion", { when: moment(kept.made_at) }) })} />
            <${Confirm} icon="trash" label=${t("backup.drop")} busy=${busy} run=${drop} ask=${async () => ({ question: t("backup.dropQuestion") })} />`}
        </div>
        ${shown && kept && html`<${Parts} key=${kept.made_at} name=${t("backup.title")} close=${() => setShown(false)} load=${(part) => ask("/backup_part", { part })} />`}`}
    <//>
    ${progress && html`<p class="hint" role="status">${progress}</p>`}
    <${Problem} failure=${failure} />
    ${report && html`<${Report} report=${report} />`}`;
}

function Kept({ kept }) {
  return html`
    <dl class="facts">
      <${Fact} name=${t("backup.madeAt")} value=${ago(kept.made_at)} title=${moment(kept.made_at)} />
      <${Fact} name=${t("space.memories")} value=${count(kept.episodes)} />
      <${Fact} name=${t("space.profiles")} value=${count(kept.profiles)} />
      <${Fact} name=${t("backup.size")} value=${size(kept.size)} />
    </dl>`;
}
