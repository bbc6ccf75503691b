// When memories were made: bars over time, drawn by hand as SVG. A bar narrows the list to its stretch of time.
import { useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAnswer } from "../answers.js";
import { count, stretch } from "../format.js";
import { t } from "../i18n.js";
import { Choice } from "../parts/fields.js";
import { Problem } from "../parts/state.js";

const LENGTHS = ["day", "week", "month", "year"];
const STATUSES = ["active", "archived", "superseded"];
const HEIGHT = 64;
const FEWEST = 16; // below that many bars the chart does not take the whole width
const MOST = 400;
const OFFSET = -new Date().getTimezoneOffset(); // minutes that the reader's clock is ahead of UTC; bars are their days

/** The chart; `choose` gets {after, before} of a bar. */
export function Timeline({ spaceId, version, choose, chosen }) {
  const [wish, setWish] = useState("auto"); // until somebody chooses
  const [at, setAt] = useState(""); // the bar that is looked at, by its beginning
  const { data, failure } = useAnswer("/timeline", { space_id: spaceId, by: wish, utc_offset: OFFSET, version });
  if (failure && !data) return html`<${Problem} failure=${failure} />`;
  const found = data?.buckets || [];
  const by = data?.by || "month"; // longer ones than asked for when there would be too many
  if (data && (!found.length || (found.length === 1 && wish === "auto"))) return null; // one bar says little
  const buckets = filled(found, by);
  const looked = found.find((one) => one.start === at) || found.find((one) => chosen.after === one.start && chosen.before === next(one.start, by));
  return html`
    <figure class="timeline card">
      <figcaption class="row between">
        <span class="legend">${STATUSES.filter((s) => !data || found.some((b) => b[s])).map((s) => html`<span><i class="swatch ${s}" aria-hidden="true"></i>${t(`status.${s}`)}</span>`)}</span>
        <${Choice} label=${t("timeline.by")} hidden value=${by} change=${setWish} class="plain" options=${LENGTHS.map((one) => [one, t(`timeline.${one}`)])} />
      </figcaption>
      <div style=${{ width: `${Math.min(100, (100 * slotsOf(buckets)) / FEWEST)}%` }}>
      <${Bars} buckets=${buckets} by=${by} choose=${choose} range=${chosen} at=${at} look=${setAt} />
      <div class="row between hint axis"><span>${buckets.length ? stretch(buckets[0].start, by) : "\u00a0"}</span>
        <span class="told" aria-hidden="true">${looked ? told(looked, by) : ""}</span>
        <span>${buckets.length > 1 ? stretch(buckets[buckets.length - 1].start, by) : ""}</span></div>
      </div>
    </figure>`;
}

/** The bars. Those that hold anything are buttons; one of them takes the focus, arrow keys go from one to the next. */
function Bars({ buckets, by, choose, range, at, look }) {
  const row = useRef(null);
  const held = buckets.filter((bucket) => whole(bucket) > 0);
  const most = Math.max(1, ...held.map(whole));
  const top = held.find((bucket) => whole(bucket) === most);
  const label = top ? t("timeline.label", { total: count(held.reduce((n, b) => n + whole(b), 0)), when: stretch(top.start, by), most: count(most) }) : t("loading");
  const isPicked = (bucket) => range.after === bucket.start && range.before === next(bucket.start, by);
  const first = held.find((one) => one.start === at) || held.find(isPicked) || held[held.length - 1];
  const press = (bucket) => choose(isPicked(bucket) ? { after: "", before: "" } : { after: bucket.start, before: next(bucket.start, by) });
  const move = (event) => {
    const place = held.indexOf(first);
    const goal = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: held.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") press(first);
    else if (goal === undefined) return;
    else row.current.querySelectorAll(".bar")[Math.max(0, Math.min(held.length - 1, goal))]?.focus();
    event.preventDefault();
  };
  return html`
    <svg class="bars" viewBox="0 0 ${slotsOf(buckets) * 10} ${HEIGHT}" preserveAspectRatio="none" role="group" aria-label=${label} ref=${row} onKeyDown=${move}>
      ${buckets.map((bucket, n) => {
        if (!whole(bucket)) return null;
        let y = HEIGHT;
        return html`
          <g class="bar ${isPicked(bucket) ? "picked" : ""}" key=${bucket.start} role="button" tabindex=${bucket === first ? 0 : -1} focusable="true"
            aria-label=${told(bucket, by)} aria-pressed=${isPicked(bucket) ? "true" : "false"} onClick=${() => press(bucket)}
            onFocus=${() => look(bucket.start)} onBlur=${() => look("")} onPointerEnter=${() => look(bucket.start)} onPointerLeave=${() => look("")}>
            <rect class="back" x=${n * 10} y="0" width="10" height=${HEIGHT} />
            ${STATUSES.map((status) => {
              const height = ((HEIGHT - 4) * bucket[status]) / most;
              y -= height;
              return height > 0 && html`<rect class=${status} x=${n * 10 + 1.2} y=${y} width="7.6" height=${height} />`;
            })}
          </g>`;
      })}
    </svg>`;
}

/** A single bar is not to be as wide as a board. */
function slotsOf(buckets) {
  return Math.max(FEWEST / 2, buckets.length);
}

function whole(bucket) {
  return STATUSES.reduce((sum, status) => sum + bucket[status], 0);
}

function told(bucket, by) {
  const numbers = STATUSES.filter((s) => bucket[s]).map((s) => `${t(`status.${s}`)} ${count(bucket[s])}`);
  return [stretch(bucket.start, by), ...numbers].join(" · ");
}

/** Return the beginning of the stretch after that one: midnight by the reader's clock. */
function next(start, by) {
  const at = new Date(Date.parse(start) + OFFSET * 60000);
  if (by === "year") at.setUTCFullYear(at.getUTCFullYear() + 1);
  else if (by === "month") at.setUTCMonth(at.getUTCMonth() + 1);
  else at.setUTCDate(at.getUTCDate() + (by === "week" ? 7 : 1));
  return new Date(at.getTime() - OFFSET * 60000).toISOString();
}

/** Put empty ones between those that are there, so that distance is time; not when that would be too many. */
function filled(buckets, by) {
  if (buckets.length < 2) return buckets;
  const at = new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket]));
  const last = Date.parse(buckets[buckets.length - 1].start);
  const all = [];
  for (let start = buckets[0].start; Date.parse(start) <= last; start = next(start, by)) {
    all.push(at.get(Date.parse(start)) || { start, active: 0, archived: 0, superseded: 0 });
    if (all.length > MOST) return buckets;
  }
  return all;
}
