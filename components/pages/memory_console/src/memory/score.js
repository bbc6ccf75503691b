// Why a memory ranks where it does: its score and what it is made of.
import { html } from "../html.js";
import { percent, score as number } from "../format.js";
import { t } from "../i18n.js";

// A part has the same colour wherever it stands; what is rare shares one with what seldom stands beside it.
const SHADES = { meaning: 0, words: 1, substance: 2, context: 3, talk: 5, date: 3, recency: 4, importance: 5, speaker: 3, named: 4, exact: 2 };
const shade = (part) => `shade-${SHADES[part.name] ?? 4}`;

/** The parts of a score as one bar and as words; what pulls it down stands in the words only. */
export function Score({ score, relevant, floor }) {
  const parts = score.parts.filter((part) => Math.abs(part.value) >= 0.005);
  const whole = Math.max(1, parts.reduce((sum, part) => sum + Math.max(0, part.value), 0));
  return html`
    <div class="score">
      <div class="row">
        <strong>${number(score.total)}</strong>
        <span class="bar" aria-hidden="true">
          ${parts.map((part) => part.value > 0 && html`<i class=${shade(part)} style=${{ width: `${(100 * part.value) / whole}%` }}></i>`)}
        </span>
        ${typeof score.relevance === "number" && html`<span class="hint">${t(relevant === false ? "score.below" : "score.relevance", { share: percent(score.relevance), floor: percent(floor || 0) })}</span>`}
      </div>
      <ul class="parts">
        ${parts.map((part) => html`
          <li><i class="swatch ${part.value > 0 ? shade(part) : "empty"}" aria-hidden="true"></i>${part.label} <b>${number(part.value, true)}</b></li>`)}
      </ul>
    </div>`;
}
