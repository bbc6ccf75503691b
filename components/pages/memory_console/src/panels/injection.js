// What the bot was given on the last turn, and why.
import { html } from "../html.js";
import { useAnswer } from "../answers.js";
import { ago, count, listed, milliseconds, moment } from "../format.js";
import { known, t } from "../i18n.js";
import { Score } from "../memory/score.js";
import { Fact } from "../parts/badges.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Answer, State } from "../parts/state.js";
import { openPanel } from "../place.js";

/** The panel. */
export function Injection({ space }) {
  const answer = useAnswer("/injection", { space_id: space.space_id });
  return html`
    <${Answer} of=${answer} rows=${4}>
      ${({ snapshot }) => (snapshot
        ? html`<${Snapshot} snapshot=${snapshot} reload=${answer.reload} busy=${answer.busy} />`
        : html`<${State} level="3" picture="clock" title=${t("injection.none")} text=${t("injection.noneHint")} />`)}
    <//>`;
}

function Snapshot({ snapshot, reload, busy }) {
  const speaker = snapshot.sender_name || snapshot.sender_id || t("injection.nobody");
  return html`
    <div class="row between top-line">
      <p><strong title=${moment(snapshot.at)}>${t("injection.turn", { when: ago(snapshot.at), who: speaker })}</strong>
        <span class="hint"> ${moment(snapshot.at)}</span></p>
      <${Button} class="small" icon="refresh" busy=${busy} onClick=${reload}>${t("refresh")}<//>
    </div>
    <div class="verdict ${snapshot.injected ? "ok" : "warn"}">
      <${Icon} name=${snapshot.injected ? "check" : "alert"} />
      <p>${verdict(snapshot)} ${snapshot.recall_text}</p>
    </div>
    <dl class="facts">
      <${Fact} name=${t("injection.memories")} value=${count(snapshot.episodes.length)} />
      <${Fact} name=${t("injection.characters")} value=${count(snapshot.characters)} />
      <${Fact} name=${t("injection.profiles")} value=${listed(snapshot.profiles.map((one) => known(`target.${one}`, one))) || "–"} />
      <${Fact} name=${t("injection.time")} value=${milliseconds(snapshot.milliseconds.total)} />
    </dl>
    <${Recalled} snapshot=${snapshot} />
    <${LeftOut} snapshot=${snapshot} />
    <${Seen} blocks=${snapshot.blocks} placement=${snapshot.placement} />
    <${Spent} parts=${snapshot.milliseconds} />`;
}

function verdict({ injected, placement }) {
  if (!injected) return t("injection.nothing");
  return t(placement === "retrieval" ? "injection.byRetrieval" : "injection.inPrompt");
}

function Recalled({ snapshot }) {
  if (!snapshot.episodes.length) return null;
  return html`
    <section class="stack" aria-labelledby="recalled">
      <h3 id="recalled">${t("injection.recalled")}</h3>
      <ol class="recalled">
        ${snapshot.episodes.map((one) => html`
          <li key=${one.id}>
            <div class="row between"><p class="content clamp">${one.content}${one.cut ? "…" : ""}</p>
              <${Button} class="small" kind="quiet" onClick=${() => openPanel("memories", { id: one.id })} aria-label=${t("injection.openLabel", { about: one.content.slice(0, 60) })}>${t("injection.open")}<//></div>
            <${Score} score=${{ total: one.score, relevance: one.relevance, parts: one.parts }} />
          </li>`)}
      </ol>
    </section>`;
}

function LeftOut({ snapshot }) {
  const lines = snapshot.skipped.filter((one) => one.text !== snapshot.recall_text);
  if (!lines.length) return null;
  return html`
    <section class="stack" aria-labelledby="left-out">
      <h3 id="left-out">${t("injection.leftOut")}</h3>
      <ul class="lines">${lines.map((one) => html`<li key=${one.reason}>${one.text}</li>`)}</ul>
    </section>`;
}

function Seen({ blocks, placement }) {
  if (!blocks.length) return null;
  return html`
    <section class="stack" aria-labelledby="seen">
      <h3 id="seen">${t("injection.seen")}</h3>
      <p class="hint">${t(placement === "retrieval" ? "injection.seenRetrieval" : "injection.seenSystem")}</p>
      ${blocks.map((block) => html`
        <figure class="block" key=${block.name}>
          <figcaption>${block.title}</figcaption>
          <pre tabindex="0" role="region" aria-label=${block.title}>${block.text}</pre>
        </figure>`)}
    </section>`;
}

const STEPS = ["message", "profiles", "embedding", "search", "ranking", "rerank", "recall"];

/** Where the time of the turn went: steps from left to right, as they followed each other; older turns have a total only. */
function Spent({ parts }) {
  const rows = STEPS.filter((name) => typeof parts[name] === "number");
  if (!rows.length) return null;
  let begin = 0;
  const bars = rows.map((name) => {
    const bar = { name, begin, took: parts[name] };
    if (name !== "profiles") begin += parts[name]; // these are read beside the recall
    return bar;
  });
  const whole = Math.max(parts.total, ...bars.map((bar) => bar.begin + bar.took), 1);
  return html`
    <section class="stack" aria-labelledby="spent">
      <h3 id="spent">${t("injection.spent")}</h3>
      <p class="hint">${t("injection.spentHint")}</p>
      <dl class="spent">
        ${bars.map(({ name, begin: left, took }) => html`
          <div key=${name}><dt>${known(`spent.${name}`, name)}</dt>
            <dd><span class="bar" aria-hidden="true"><i class="shade-0" style=${{ marginInlineStart: `${(100 * left) / whole}%`, width: `${(100 * took) / whole}%` }}></i></span><span>${milliseconds(took)}</span></dd></div>`)}
      </dl>
    </section>`;
}
