// Text that is too long for one answer, shown a part at a time and copied: the frame allows no downloads.
import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction } from "../answers.js";
import { count, size } from "../format.js";
import { t } from "../i18n.js";
import { IconButton } from "./button.js";
import { CopyButton } from "./copy.js";
import { Pager } from "./pager.js";
import { Problem, Skeleton } from "./state.js";

/**
 * The parts of a text.
 * @param {Object} props
 * @param {function(number): Promise<Object>} props.load - gives {text, part, parts} of a part, from 1
 * @param {function(Object): string[]} props.facts - what else to say about it
 */
export function Parts({ load, name, close, facts = () => [] }) {
  const [shown, setShown] = useState(null);
  const { busy, failure, run } = useAction();
  const first = useRef(null); // the answer that the other parts belong to
  const go = (part) => run(async (alive) => {
    const answer = await load(part);
    const text = typeof answer.text === "string" ? answer.text : JSON.stringify(answer.entries, null, 1);
    first.current ??= answer;
    if (alive()) setShown({ parts: 1, part: 1, ...answer, text });
  });
  const moved = shown && (shown.episodes !== first.current.episodes || shown.parts !== (first.current.parts ?? 1));
  useEffect(() => {
    go(1);
  }, []);
  if (!shown) return failure ? html`<${Problem} failure=${failure} />` : html`<${Skeleton} rows=${1} lines=${4} />`;
  const about = [size(new Blob([shown.text]).size), ...facts(shown)];
  if (shown.parts > 1) about.unshift(t("parts.part", { part: count(shown.part), parts: count(shown.parts) }));
  return html`
    <div class="stack text-part">
      <div class="row between">
        <p class="hint" role="status">${about.join(" · ")}</p>
        <div class="row"><${CopyButton} text=${shown.text} label=${t(shown.parts > 1 ? "parts.copy" : "copy")} kind="primary" />
          <${IconButton} icon="cross" label=${t("dismiss")} onClick=${close} /></div>
      </div>
      <${Problem} failure=${failure} />
      ${moved && html`<p class="note">${t("parts.moved")}</p>`}
      <textarea readonly rows="10" spellcheck=${false} aria-label=${name} value=${shown.text}></textarea>
      <${Pager} page=${shown.part} pages=${shown.parts} go=${go} busy=${busy} />
    </div>`;
}
