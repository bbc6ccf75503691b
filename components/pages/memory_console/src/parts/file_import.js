// A picked file: read, previewed, taken in, reported on.
import { useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction } from "../answers.js";
import { ask, Failure } from "../api.js";
import { count, size } from "../format.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";
import { FilePicker, Tick } from "./fields.js";
import { notify } from "./notice.js";
import { added, Report } from "./report.js";
import { Problem } from "./state.js";

const LARGEST = 6_000_000; // a request may have 9 MB, and base64 makes a third more of it

/** The form; `body` goes along with every request, `done` is called after rows were taken in. */
export function FileImport({ endpoint, body = {}, profiles = false, done }) {
  const [file, setFile] = useState(null);
  const [data, setData] = useState("");
  const [withProfiles, setWithProfiles] = useState(true);
  const [preview, setPreview] = useState(null);
  const [report, setReport] = useState(null);
  const { busy, failure, run, clear } = useAction();
  const request = (more) => ask(endpoint, { ...body, data, ...(profiles ? { profiles: withProfiles } : {}), ...more });
  const pick = (picked) => {
    setFile(picked);
    for (const reset of [setPreview, setReport]) reset(null);
    clear();
    if (!picked) return;
    run(async () => {
      if (picked.size > LARGEST) throw new Failure("too_large", t("import.tooLarge", { size: size(picked.size), most: size(LARGEST) }));
      const text = await base64(picked);
      setData(text);
      setPreview(await ask(endpoint, { ...body, data: text, ...(profiles ? { profiles: withProfiles } : {}), dry_run: true }));
    });
  };
  const take = () => run(async (alive) => {
    let [whole, before] = [null, null];
    for (;;) {
      const next = await request({ dry_run: false });
      whole = added(whole, before, next);
      if (alive()) setReport(whole);
      // The same again goes on; no progress at all means that something is in the way.
      if (!next.remaining || next.stopped || (before && next.remaining >= before.remaining)) break;
      before = next;
    }
    setPreview(null);
    notify(t("import.done", { count: count(whole.accepted) }));
    done?.();
  });
  const usable = preview && !preview.stopped && (preview.accepted > 0 || preview.profiles > 0);
  return html`
    <div class="stack">
      <${FilePicker} label=${t("import.file")} accept=".json,.jsonl,.ndjson,.md,.txt" change=${pick} />
      ${profiles && html`<${Tick} label=${t("import.withProfiles")} checked=${withProfiles} change=${setWithProfiles} />`}
      <${Problem} failure=${failure} />
      ${busy && !report && html`<p class="hint" role="status">${t(preview ? "import.running" : "import.reading")}</p>`}
      ${preview && !report && html`
        <h4>${t("import.preview", { name: file.name, size: size(file.size) })}</h4>
        <${Report} report=${preview} preview />
        <div class="row"><${Button} kind="primary" busy=${busy} disabled=${!usable} onClick=${take}>${t("import.take")}<//></div>`}
      ${report && html`
        <h4>${t("import.report")}</h4>
        ${busy && html`<p class="hint" role="status">${t("import.left", { count: count(report.remaining) })}</p>`}
        <${Report} report=${report} />`}
    </div>`;
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  const step = 32768; // more arguments at once than that are too many for some browsers
  for (let at = 0; at < bytes.length; at += step) text += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(text);
}
