// The page as a whole: the list of spaces on the left, what is open on the right.
import { html } from "./html.js";
import { t } from "./i18n.js";
import { refresh } from "./kept.js";
import { Button } from "./parts/button.js";
import { Icon } from "./parts/icon.js";
import { Notices } from "./parts/notice.js";
import { Failed, State } from "./parts/state.js";
import { close, openView, space, view } from "./place.js";
import { Sidebar } from "./sidebar.js";
import { SpaceView } from "./space_view.js";
import { loadSpaces, loading, search, spaces } from "./spaces.js";
import { Diagnostics } from "./panels/diagnostics.js";
import { WholeMemory } from "./panels/whole_memory.js";

const VIEWS = { diagnostics: Diagnostics, whole: WholeMemory };

/** Everything. */
export function App() {
  const opened = Boolean(space.value || view.value);
  return html`
    <div class="app ${opened ? "opened" : ""}">
      <header class="top">
        <h1>${t("title")}</h1>
        <div class="row">
          <${ViewButton} name="diagnostics" icon="pulse" />
          <${ViewButton} name="whole" icon="box" />
          <${Button} kind="quiet" icon="refresh" busy=${loading.value} onClick=${again} class="fold" aria-label=${t("refresh")}>${t("refresh")}<//>
        </div>
      </header>
      <${Banner} />
      <div class="columns">
        <${Sidebar} />
        <main id="detail" class="detail ${opened ? "" : "idle"}" tabindex="-1">
          ${opened && html`<div class="back"><${Button} kind="quiet" icon="back" onClick=${close}>${t("back")}<//></div>`}
          <${Detail} />
        </main>
      </div>
      <${Notices} />
    </div>`;
}

function ViewButton({ name, icon }) {
  const open = view.value === name;
  return html`<${Button} kind="quiet" icon=${icon} class="fold ${open ? "open" : ""}" aria-pressed=${open ? "true" : "false"}
    aria-label=${t(`view.${name}`)} onClick=${() => (open ? close() : openView(name))}>${t(`view.${name}`)}<//>`;
}

function again() {
  refresh();
  loadSpaces();
}

/** What is wrong with the memory as a whole, above everything else. */
function Banner() {
  const { phase, list, knowledgeBase, failure } = spaces.value;
  if (phase === "loading") return null;
  const bare = phase === "ready" && list.length > 0 && !knowledgeBase;
  const mute = phase === "ready" && knowledgeBase && knowledgeBase.has_model === false;
  const stale = phase === "failed" && list.length > 0;
  const text = bare ? t("noKnowledgeBase.banner") : mute ? t("noModel.banner") : stale ? `${t("spaces.failed")} ${failure.message}` : "";
  if (!text) return null;
  return html`
    <div class="banner" role="status">
      <${Icon} name="alert" />
      <p>${text}</p>
      ${view.value !== "diagnostics" && html`<${Button} class="small" onClick=${() => openView("diagnostics")}>${t("view.diagnostics")}<//>`}
    </div>`;
}

function Detail() {
  const { phase, list, knowledgeBase, failure } = spaces.value;
  if (view.value) return html`<${VIEWS[view.value]} key=${view.value} />`;
  if (space.value) return html`<${SpaceView} key=${space.value.space_id} space=${space.value} />`;
  if (phase === "loading") return null;
  if (phase === "failed" && !list.length) return html`<${Failed} title=${t("spaces.failed")} failure=${failure} again=${loadSpaces} />`;
  if (!list.length && !search.value) {
    const steps = [t("noKnowledgeBase.create"), t("noKnowledgeBase.attach"), t("noKnowledgeBase.talk")];
    if (!knowledgeBase) return html`<${State} picture="box" title=${t("noKnowledgeBase.title")} steps=${steps} />`;
    return html`<${State} title=${t("spaces.empty")} text=${t("spaces.emptyHint")} />`;
  }
  return html`<${State} title=${t("select.title")} text=${t("select.text")} />`;
}
