// When memories were made: bars over time, drawn by hand as SVG. A bar narrows the list to its stretch of time.
import { useEffect, useState } from "../vendor/preact-hooks.js";
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
  const [wish, setWish] = useState("month");
  const [chosenLength, setChosenLength] = useState(false);
  const { data, failure } = useAnswer("/timeline", { space_id: spaceId, by: wish, utc_offset: OFFSET, version });
  // One bar says little: days or weeks say more, until somebody has chosen.
  const finer = !chosenLength && data?.buckets.length === 1 ? LENGTHS[LENGTHS.indexOf(data.by) - 1] : "";
  useEffect(() => {
    if (finer) setWish(finer);
  }, [finer]);
  if (failure && !data) return html`<${Problem} failure=${failure} />`;
  const found = data?.buckets || [];
  const by = data?.by || wish; // longer ones than asked for when there would be too many
  if (finer || (data && (!found.length || (found.length === 1 && !chosenLength)))) return null;
  const buckets = filled(found, by);
  return html`
    <figure class="timeline card">
      <figcaption class="row between">
        <span class="legend">${STATUSES.filter((s) => !data || found.some((b) => b[s])).map((s) => html`<span><i class="swatch ${s}" aria-hidden="true"></i>${t(`status.${s}`)}</span>`)}</span>
        <${Choice} label=${t("timeline.by")} hidden value=${by} change=${(length) => { setChosenLength(true); setWish(length); }} class="plain" options=${LENGTHS.map((one) => [one, t(`timeline.${one}`)])} />
      </figcaption>
      <div style=${{ width: `${Math.min(100, (100 * slotsOf(buckets)) / FEWEST)}%` }}>
      <${Bars} buckets=${buckets} by=${by} choose=${choose} chosen=${chosen} />
      <div class="row between hint"><span>${buckets.length ? stretch(buckets[0].start, by) : "\u00a0"}</span>
        <span>${buckets.length > 1 ? stretch(buckets[buckets.length - 1].start, by) : ""}</span></div>
      </div>
    </figure>`;
}

function Bars({ buckets, by, choose, chosen }) {
  const most = Math.max(1, ...buckets.map(whole));
  const top = buckets.find((bucket) => whole(bucket) === most);
  const label = top ? t("timeline.label", { total: count(buckets.reduce((n, b) => n + whole(b), 0)), when: stretch(top.start, by), most: count(most) }) : t("loading");
  return html`
    <svg class="bars" viewBox="0 0 ${slotsOf(buckets) * 10} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${label}>
      ${buckets.map((bucket, n) => {
        const range = { after: bucket.start, before: next(bucket.start, by) };
        const picked = chosen.after === range.after && chosen.before === range.before;
        let y = HEIGHT;
        return html`
          <g class="bar ${picked ? "picked" : ""}" key=${bucket.start} onClick=${() => choose(picked ? { after: "", before: "" } : range)}>
            <title>${told(bucket, by)}</title>
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
  return [stretch(bucket.start, by), ...numbers].join("\n");
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
