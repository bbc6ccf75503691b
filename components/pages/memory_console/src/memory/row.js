// One memory: at a glance, and with everything that is known of it when opened.
import { useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction, useAnswer } from "../answers.js";
import { ago, day, line, moment } from "../format.js";
import { known, t } from "../i18n.js";
import { Fact, Importance, Status } from "../parts/badges.js";
import { Button, Confirm, IconButton } from "../parts/button.js";
import { Tick } from "../parts/fields.js";
import { Problem } from "../parts/state.js";
import { askToDelete, change, remove } from "./changes.js";
import { Edit } from "./edit.js";
import { Score } from "./score.js";

/**
 * A memory in a list.
 * @param {Object} props
 * @param {Object|null} props.hit - its score, when it was searched for
 * @param {function(boolean)|null} props.select - null: cannot be selected
 */
export function Memory({ spaceId, episode, hit, floor, selected, select, begin = false, after, show }) {
  const [open, setOpen] = useState(begin);
  const about = episode.content.slice(0, 60);
  return html`
    <li class="memory ${episode.status} ${hit && !hit.relevant ? "below" : ""} ${selected ? "selected" : ""}" data-memory=${episode.id}>
      ${select ? html`<${Tick} hidden label=${t("select.memory", { about })} checked=${selected} change=${select} />` : html`<span></span>`}
      <div class="grow">
        <p class="content ${open ? "" : "clamp"}">${episode.content}${episode.cut ? "…" : ""}</p>
        <p class="meta">
          <${Importance} value=${episode.importance} />
          <${Status} status=${episode.status} />
          ${episode.sender_name || episode.sender_id ? html`<span title=${line([episode.sender_name, episode.sender_id])}>${episode.sender_name || episode.sender_id}</span>` : null}
          <time datetime=${episode.timestamp} title=${moment(episode.timestamp)}>${day(episode.timestamp)}</time>
          ${episode.tags.map((tag) => html`<span class="tag" title=${tag}>${tag}</span>`)}
        </p>
        ${hit && html`<${Score} score=${hit.score} relevant=${hit.relevant} floor=${floor} />`}
        ${open && html`<${Opened} spaceId=${spaceId} episode=${episode} after=${after} show=${show} />`}
      </div>
      <${IconButton} icon="chevron" class=${open ? "turned" : ""} label=${t(open ? "memory.less" : "memory.more", { about })} aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)} />
    </li>`;
}

function Opened({ spaceId, episode: shown, after, show }) {
  const [editing, setEditing] = useState(false);
  const { busy, failure, run, clear } = useAction();
  const whole = useAnswer("/episode", { space_id: spaceId, id: shown.id, status: shown.status });
  const episode = whole.data?.episode || shown;
  const action = episode.status === "active" ? "archive" : "restore";
  if (editing) {
    const done = (changed) => {
      setEditing(false);
      if (!changed) return;
      whole.reload();
      after();
    };
    return html`<${Edit} spaceId=${spaceId} episode=${episode} done=${done} />`;
  }
  const question = async () => {
    let answer = null;
    await run(async () => {
      answer = await askToDelete(spaceId, [episode.id]);
    });
    return answer;
  };
  return html`
    ${shown.cut && whole.data && html`<p class="content whole">${episode.content}</p>`}
    ${episode.status !== "active" && html`<p class="hint about-status">${known(`status.${episode.status}.about`, "")}</p>`}
    <${Details} episode=${episode} />
    <${Problem} failure=${whole.failure} />
    ${whole.data?.replaced_by && html`<${Linked} words=${t("memory.replacedBy")} episodes=${[whole.data.replaced_by]} show=${show} />`}
    ${whole.data?.replaces.length > 0 && html`<${Linked} words=${t("memory.replaces")} episodes=${whole.data.replaces} show=${show} />`}
    <${Problem} failure=${failure} />
    <div class="row wrap actions">
      <${Button} class="small" icon="edit" disabled=${!whole.data} onClick=${() => { clear(); setEditing(true); }}>${t("edit")}<//>
      <${Button} class="small" icon=${action} busy=${busy} onClick=${() => run(() => change(spaceId, action, [episode.id], after))}>${t(action)}<//>
      <${Confirm} small icon="trash" label=${t("delete")} busy=${busy} ask=${question} run=${(codes) => run(() => remove(spaceId, [episode.id], codes, after))} />
    </div>`;
}

function Details({ episode }) {
  const speaker = line([episode.sender_name, episode.sender_id]);
  return html`
    <dl class="details">
      <${Fact} name=${t("memory.id")} value=${html`<code>${episode.id}</code>`} />
      <${Fact} name=${t("memory.time")} value=${moment(episode.timestamp)} title=${ago(episode.timestamp)} />
      <${Fact} name=${t("memory.stored")} value=${moment(episode.created_at)} title=${ago(episode.created_at)} />
      <${Fact} name=${t("memory.speaker")} value=${speaker || "–"} title=${speaker} />
      <${Fact} name=${t("memory.session")} value=${episode.session_name || "–"} title=${episode.session_name} />
      <${Fact} name=${t("memory.source")} value=${known(`source.${episode.source}`, episode.source) || "–"} />
    </dl>`;
}

function Linked({ words, episodes, show }) {
  return html`
    <div class="linked">
      <h4>${words}</h4>
      <ul>${episodes.map((one) => html`<li><button type="button" class="link" onClick=${() => show(one.id)}>${one.content}</button> <span class="hint">${day(one.timestamp)}</span></li>`)}</ul>
    </div>`;
}
