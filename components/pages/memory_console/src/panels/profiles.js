// The profiles of a space: the conversation's own, and those of everybody in it.
import { useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAnswer } from "../answers.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { Profile } from "../profile/card.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Answer, State } from "../parts/state.js";
import { openPanel } from "../place.js";
import { loadSpaces } from "../spaces.js";

const SIZE = 10;
const PAUSE = 300;

/** The panel. */
export function Profiles({ space }) {
  const [page, setPage] = useState(1);
  const [search, setSearch] = useState("");
  const pause = useRef(0);
  const answer = useAnswer("/profiles", { space_id: space.space_id, page, size: SIZE, search });
  const type = (text) => {
    clearTimeout(pause.current);
    pause.current = setTimeout(() => {
      setSearch(text.trim());
      setPage(1);
    }, PAUSE);
  };
  const after = () => {
    answer.reload();
    loadSpaces();
  };
  return html`
    <${Answer} of=${answer} rows=${3} lines=${4}>
      ${(data) => html`
        ${data.problems.map((problem) => html`<p class="note">${problem}</p>`)}
        ${data.session && html`<${Profile} key="session" space=${space} profile=${data.session} limits=${data.limits} after=${after} />`}
        <div class="row between wrap top-line">
          <h3>${t("profiles.people", { count: count(data.total) })}</h3>
          <${Button} class="small after-words" kind="quiet" icon="clock" onClick=${() => openPanel("audit", { operation: "update_profile" })}>${t("profile.log")}<//>
          <div class="search"><${Icon} name="search" />
            <input type="search" aria-label=${t("profiles.search")} placeholder=${t("profiles.search")} autocomplete="off" onInput=${(e) => type(e.target.value)} /></div>
        </div>
        ${data.speakers.map((one) => html`<${Profile} key=${one.sender_id} space=${space} profile=${one} limits=${data.limits} after=${after} />`)}
        ${!data.speakers.length && html`<${State} small level="4" picture="person" title=${t(search ? "profiles.noMatch" : "profiles.none")} text=${t("profiles.noneHint")} />`}
        <${Pager} page=${data.page} pages=${data.pages} go=${setPage} busy=${answer.busy} />`}
    <//>`;
}
