// A space's memories out and in, and erasing the space.
import { useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { ask } from "../api.js";
import { count, several } from "../format.js";
import { t } from "../i18n.js";
import { Button } from "../parts/button.js";
import { Erase } from "../parts/erase.js";
import { Choice } from "../parts/fields.js";
import { FileImport } from "../parts/file_import.js";
import { Parts } from "../parts/text_parts.js";
import { close } from "../place.js";
import { loadSpaces } from "../spaces.js";

/** The panel. */
export function Transfer({ space }) {
  const body = { space_id: space.space_id };
  const erased = () => {
    close();
    loadSpaces();
  };
  return html`
    <section class="card stack" aria-labelledby="export"><h3 id="export">${t("export.title")}</h3><${Export} body=${body} /></section>
    <section class="card stack" aria-labelledby="import"><h3 id="import">${t("import.title")}</h3>
      <p class="hint">${t("import.help")}</p>
      <${FileImport} endpoint="/import" body=${body} profiles done=${loadSpaces} />
    </section>
    <section class="card stack danger-zone" aria-labelledby="erase"><h3 id="erase">${t("erase.spaceTitle")}</h3>
      <p class="hint">${t("erase.spaceHelp")}</p>
      <div><${Erase} endpoint="/erase_space" body=${body} label=${t("erase.space")} done=${erased} /></div>
    </section>`;
}

function Export({ body }) {
  const [what, setWhat] = useState("all");
  const [shown, setShown] = useState("");
  const kinds = ["all", "episodes", "profiles"].map((one) => [one, t(`export.${one}`)]);
  const facts = (part) => [
    several("count.memories", part.episodes),
    several("count.profiles", part.profiles),
    ...(part.unread ? [t("export.unread", { count: count(part.unread) })] : []),
  ];
  return html`
    <p class="hint">${t("export.help")}</p>
    <div class="row end">
      <${Choice} label=${t("export.what")} value=${what} change=${(one) => { setWhat(one); setShown(""); }} options=${kinds} />
      <${Button} kind="primary" onClick=${() => setShown(what)}>${t("export.show")}<//>
    </div>
    ${shown && html`<${Parts} key=${shown} name=${t("export.title")} facts=${facts} close=${() => setShown("")}
      load=${(part) => ask("/export", { ...body, what: shown, part })} />`}`;
}
