// The log of changes: who did what, when, told in numbers.
import { useEffect, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAnswer } from "../answers.js";
import { ask } from "../api.js";
import { ago, count, line, moment } from "../format.js";
import { known, t } from "../i18n.js";
import { Button } from "../parts/button.js";
import { Choice, Text } from "../parts/fields.js";
import { Answer, State } from "../parts/state.js";
import { Parts } from "../parts/text_parts.js";
import { openPanel, wanted } from "../place.js";

const SIZE = 30;
const OPERATIONS = [
  "remember", "update_profile", "edit", "archive", "restore", "forget", "delete", "import", "opt_out", "opt_in", "erase_speaker",
];

/** The panel. `wanted.operation` narrows it to begin with. */
export function Audit({ space }) {
  const [operation, setOperation] = useState(wanted.value?.operation || "");
  const [sender, setSender] = useState("");
  const [before, setBefore] = useState([0]); // where each page begins that was turned, newest first
  const [exported, setExported] = useState(false);
  useEffect(() => {
    wanted.value = null;
  }, []);
  const here = before[before.length - 1];
  const answer = useAnswer("/audit", { space_id: space.space_id, size: SIZE, before: here, operation, sender_id: sender.trim() });
  const narrow = (set) => (value) => {
    set(value);
    setBefore([0]);
  };
  const options = [["", t("filter.any")], ...OPERATIONS.map((one) => [one, t(`operation.${one}`)])];
  return html`
    <div class="grid-fields">
      <${Choice} label=${t("audit.operation")} value=${operation} change=${narrow(setOperation)} options=${options} />
      <${Text} label=${t("audit.sender")} value=${sender} change=${narrow(setSender)} />
    </div>
    <${Answer} of=${answer} rows=${6} lines=${1}>
      ${(data) => html`<${Entries} data=${data} narrowed=${operation || sender} />
        <${Turn} after=${data.after} before=${before} go=${setBefore} busy=${answer.busy} />`}
    <//>
    <section class="stack">
      <h3>${t("audit.export")}</h3>
      <p class="hint">${t("audit.exportHint")}</p>
      ${exported
        ? html`<${Parts} load=${(part) => ask("/audit_export", { space_id: space.space_id, part })} name=${t("audit.export")} close=${() => setExported(false)} />`
        : html`<div><${Button} onClick=${() => setExported(true)}>${t("export.show")}<//></div>`}
    </section>`;
}

function Entries({ data, narrowed }) {
  if (!data.entries.length) {
    return html`<${State} small level="3" picture="clock" title=${t(narrowed ? "audit.noMatch" : "audit.none")} text=${t(narrowed ? "audit.noMatchHint" : "audit.noneHint")} />`;
  }
  return html`
    ${data.unreadable > 0 && html`<p class="note">${t("audit.unreadable", { count: count(data.unreadable) })}</p>`}
    <div class="table" tabindex="0" role="region" aria-label=${t("panel.audit")}>
      <table>
        <thead><tr><th scope="col">${t("audit.when")}</th><th scope="col">${t("audit.operation")}</th><th scope="col">${t("audit.who")}</th><th scope="col">${t("audit.what")}</th></tr></thead>
        <tbody>${data.entries.map((entry) => html`<${Entry} key=${entry.audit_id || entry.number} entry=${entry} />`)}</tbody>
      </table>
    </div>`;
}

function Entry({ entry }) {
  const facts = Object.entries(entry.summary).filter(says).sort(([one], [other]) => (other === "field") - (one === "field")).map(told);
  const id = entry.target_id === entry.scope_key ? "" : entry.target_id;
  const kind = known(`kind_of.${entry.target_type}`, entry.target_type);
  const there = entry.target_type === "episode" && id && !GONE.includes(entry.operation);
  return html`
    <tr>
      <td data-name=${t("audit.when")}><time datetime=${entry.at} title=${ago(entry.at)}>${moment(entry.at)}</time></td>
      <td data-name=${t("audit.operation")}><strong>${known(`operation.${entry.operation}`, entry.operation)}</strong> <span class="hint">${known(`via.${entry.via}`, entry.via)}</span></td>
      <td data-name=${t("audit.who")}><span>${entry.sender_name || entry.sender_id || "–"}</span></td>
      <td data-name=${t("audit.what")}><span>${kind} ${there ? html`<button type="button" class="link" onClick=${() => openPanel("memories", { id })}>${id}</button>` : html`<bdi>${id}</bdi>`}</span>
        ${facts.length > 0 && html` <span class="hint">${line(facts)}</span>`}</td>
    </tr>`;
}

const UNTOLD = ["keyed"];
const GONE = ["forget", "delete"];
const UNCERTAIN = "unknown"; // the store did not answer, so the change may or may not have happened

/** Whether a fact of a summary says anything. */
function says([name, value]) {
  if (name === "outcome") return value === UNCERTAIN; // any other says in the service's own words what the facts say as well
  return value !== 0 && value !== "" && !UNTOLD.includes(name) && !(name === "values" && value === 1);
}

function told([name, value]) {
  if (name === "outcome") return t("fact.uncertain");
  const words = () => known(`status.${value}`, "") || known(`field.${value}`, "") || known(`action.${value}`, value);
  const said = typeof value === "number" ? count(value) : words();
  return t("audit.fact", { name: known(`fact.${name}`, name), value: said });
}

function Turn({ after, before, go, busy }) {
  if (!after && before.length === 1) return null;
  return html`
    <nav class="pager" aria-label=${t("pager.label")}>
      <${Button} class="small" icon="back" disabled=${before.length === 1 || busy} onClick=${() => go(before.slice(0, -1))}>${t("audit.newer")}<//>
      <${Button} class="small after" icon="chevron" disabled=${!after || busy} onClick=${() => go([...before, after])}>${t("audit.older")}<//>
    </nav>`;
}
