// Whether everything that memory needs works, what it runs on, and how fast that is.
import { html } from "../html.js";
import { useAnswer } from "../answers.js";
import { count, line, milliseconds } from "../format.js";
import { known, t } from "../i18n.js";
import { Fact } from "../parts/badges.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Answer, Problem } from "../parts/state.js";

const PICTURES = { ok: "check", warn: "alert", error: "cross", unseen: "bubble" };
const WORST_FIRST = ["error", "warn", "unseen", "ok"];
const UNSEEN = ["pipeline"]; // from a page nobody can tell; the sentence says where it can be told

/** The view. */
export function Diagnostics() {
  const health = useAnswer("/health", {});
  const facts = useAnswer("/diagnostics", {});
  const again = () => {
    health.reload();
    facts.reload();
  };
  return html`
    <div class="row between"><h2>${t("view.diagnostics")}</h2>
      <${Button} kind="primary" icon="refresh" busy=${health.busy} onClick=${again}>${t(health.busy ? "health.running" : "health.again")}<//></div>
    <div class="stack panel">
      <section aria-labelledby="health" class="stack">
        <h3 id="health">${t("health.title")}</h3>
        <${Answer} of=${health} rows=${4}>${(data) => html`<${Checks} data=${data} />`}<//>
      </section>
      <section aria-labelledby="facts" class="stack">
        <h3 id="facts">${t("diagnostics.title")}</h3>
        <${Answer} of=${facts} rows=${2}>${(data) => html`<${Facts} data=${data} />`}<//>
      </section>
    </div>`;
}

function Checks({ data }) {
  const told = data.checks.map((check) => (check.level === "ok" && UNSEEN.includes(check.name) ? { ...check, level: "unseen" } : check));
  const checks = WORST_FIRST.flatMap((level) => told.filter((check) => check.level === level));
  const number = (level) => count(checks.filter((check) => check.level === level).length);
  const values = { ok: number("ok"), warn: number("warn"), error: number("error") };
  return html`
    <div class="verdict ${data.level}" role="status"><${Icon} name=${PICTURES[data.level]} /><p>${t(`health.${data.level}`, values)}</p></div>
    <ul class="checks">
      ${checks.map((check) => html`
        <li key=${check.name} class="check ${check.level}">
          <${Icon} name=${PICTURES[check.level]} />
          <div><h4>${check.title} <span class="visually-hidden">${t(`level.${check.level}`)}</span></h4>
            <p>${check.text}</p>
            ${check.remedy && html`<p class="remedy">${check.remedy}</p>`}</div>
        </li>`)}
    </ul>`;
}

function Facts({ data }) {
  return html`
    <dl class="facts">
      <${Fact} name=${t("diagnostics.spaces")} value=${count(data.counts.spaces)} />
      <${Fact} name=${t("space.memories")} value=${count(data.counts.episodes)} />
      <${Fact} name=${t("space.profiles")} value=${count(data.counts.profiles)} />
      <${Fact} name=${t("diagnostics.embed")} value=${milliseconds(data.latency.embed_ms)} />
      <${Fact} name=${t("diagnostics.search")} value=${milliseconds(data.latency.search_ms)} />
      <${Fact} name=${t("diagnostics.storage")} value=${milliseconds(data.latency.storage_ms)} />
    </dl>
    ${data.counts.uncounted > 0 && html`<p class="hint">${t("diagnostics.uncounted", { count: count(data.counts.uncounted) })}</p>`}
    ${data.latency.problems.map((problem) => html`<${Problem} text=${problem} />`)}
    <dl class="details card">
      <${Fact} name=${t("diagnostics.version")} value=${data.version} />
      <${Fact} name=${t("diagnostics.host")} value=${data.host || "–"} />
      <${Fact} name=${t("diagnostics.model")} value=${modelOf(data.embedding_model)} />
      <${Fact} name=${t("diagnostics.backend")} value=${data.backend?.name || "–"} />
      <${Fact} name=${t("diagnostics.metric")} value=${data.metric || "–"} />
    </dl>
    ${data.backend?.behaviour.length > 0 && html`
      <h4>${t("diagnostics.behaviour")}</h4>
      <ul class="lines">${data.backend.behaviour.map((line) => html`<li>${line}</li>`)}</ul>`}
    <${Settings} settings=${data.settings} />`;
}

function modelOf(model) {
  if (!model) return "–";
  return line([model.name || model.uuid, model.dimension && t("diagnostics.dimensions", { count: count(model.dimension) })]);
}

function Settings({ settings }) {
  const shown = (value) => (Array.isArray(value) ? value.join(", ") : String(value)) || "–";
  return html`
    <details class="advanced">
      <summary><${Icon} name="chevron" /><span>${t("diagnostics.settings")}</span></summary>
      <div class="table" tabindex="0" role="region" aria-label=${t("diagnostics.settings")}>
        <table class="narrow"><thead><tr><th scope="col">${t("diagnostics.setting")}</th><th scope="col">${t("diagnostics.value")}</th><th scope="col">${t("diagnostics.from")}</th></tr></thead>
          <tbody>${settings.map((one) => html`<tr key=${one.name}><td><code>${one.name}</code></td><td>${shown(one.value)}</td><td class="hint">${known(`from.${one.source}`, one.source)}</td></tr>`)}</tbody></table>
      </div>
    </details>`;
}
