// Erasing a space, or a person everywhere: first what it would take, then the code of that answer.
import { html } from "../html.js";
import { useAction } from "../answers.js";
import { ask } from "../api.js";
import { listed, several } from "../format.js";
import { t } from "../i18n.js";
import { Confirm } from "./button.js";
import { notify } from "./notice.js";
import { Problem } from "./state.js";

/** The button; `done` is called when all of it is seen to be gone. */
export function Erase({ endpoint, body, label, done, small = false, disabled = false }) {
  const { busy, failure, run } = useAction();
  const question = async () => {
    let asked = null;
    await run(async () => {
      const found = await ask(endpoint, body);
      asked = { question: t("erase.question", { what: told(found) }), code: found.code };
    });
    return asked;
  };
  const erase = (code) => run(async () => {
    const found = await ask(endpoint, { ...body, code });
    notify(t("erase.done", { what: told(found) }));
    done(found);
  });
  return html`
    <${Confirm} icon="trash" label=${label} sure=${t("erase.sure")} busy=${busy} disabled=${disabled} small=${small} ask=${question} run=${erase} />
    <${Problem} failure=${failure} />`;
}

function told(found) {
  return listed([
    several("count.memories", found.episodes),
    several("count.profiles", found.profiles),
    several("count.snapshots", found.snapshots),
    several("count.auditEntries", found.audit_entries),
  ]);
}
