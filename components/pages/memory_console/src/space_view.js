// One open space: what it is, and its panels.
import { html } from "./html.js";
import { ago, conversation, count, line, moment } from "./format.js";
import { t } from "./i18n.js";
import { keysShown } from "./derive.js";
import { Fact } from "./parts/badges.js";
import { CopyButton } from "./parts/copy.js";
import { Icon } from "./parts/icon.js";
import { Tabs } from "./parts/tabs.js";
import { panel, openPanel } from "./place.js";
import { Audit } from "./panels/audit.js";
import { Injection } from "./panels/injection.js";
import { Memories } from "./panels/memories.js";
import { Profiles } from "./panels/profiles.js";
import { Transfer } from "./panels/transfer.js";

const PANELS = { memories: Memories, injection: Injection, profiles: Profiles, audit: Audit, transfer: Transfer };

/** The space, its tabs, and the panel that is chosen. */
export function SpaceView({ space }) {
  const Panel = PANELS[panel.value];
  return html`
    <${Head} space=${space} />
    <${Tabs} label=${t("panels")} tabs=${Object.keys(PANELS).map((name) => [name, t(`panel.${name}`)])} current=${panel.value} choose=${openPanel} />
    <section id="panel" class="panel" role="tabpanel" aria-labelledby="tab-${panel.value}" tabindex="0">
      <${Panel} key=${panel.value} space=${space} />
    </section>`;
}

function Head({ space }) {
  const { id, kind, icon } = conversation(space.session_name);
  const about = [kind, t(`isolation.${space.isolation}`)];
  if (space.unknown) about.push(t("space.unknown"));
  return html`
    <header class="space-head">
      <${Icon} name=${icon} />
      <div class="grow">
        <h2 title=${space.session_name}>${id || space.session_name}</h2>
        <p class="hint">${line(about)}</p>
      </div>
      <dl class="facts">
        <${Fact} name=${t("space.active")} value=${count(space.episodes)} />
        <${Fact} name=${t("space.profiles")} value=${count(space.profiles)} />
        <${Fact} name=${t("space.lastActivity")} value=${ago(space.last_activity) || "–"} title=${moment(space.last_activity)} />
      </dl>
    </header>
    <details class="advanced" open=${keysShown.value} onToggle=${(event) => (keysShown.value = event.target.open)}>
      <summary><${Icon} name="chevron" /><span>${t("advanced.title")}</span></summary>
      <dl class="keys card">
        <${Key} name="scope_key" value=${space.scope_key} about=${t("advanced.scopeKey")} />
        <${Key} name="user_key" value=${space.user_key} about=${t("advanced.userKey")} />
        <${Key} name="space_id" value=${space.space_id} about=${t("advanced.spaceId")} />
        <${Key} name="bot_uuid" value=${space.bot_uuid || t("space.noBot")} about=${t("advanced.bot")} />
      </dl>
    </details>`;
}

function Key({ name, value, about }) {
  return html`
    <div>
      <dt>${name}</dt>
      <dd>
        <div class="row"><code>${value}</code><${CopyButton} text=${value} about=${name} kind="quiet" /></div>
        <p class="hint">${about}</p>
      </dd>
    </div>`;
}
