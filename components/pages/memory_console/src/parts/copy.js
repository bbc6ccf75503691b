// Putting text on the clipboard. The frame refuses the modern way; this one works on a click.
import { useEffect, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Button } from "./button.js";
import { notify } from "./notice.js";

/** Put text on the clipboard; whether that worked. Focus goes back to where it was. */
export function copied(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.className = "visually-hidden";
  area.readOnly = true;
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  return done;
}

/** A button that copies a text and says so. */
export function CopyButton({ text, label = "", about = "", kind = "" }) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const later = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(later);
  }, [done]);
  const copy = () => {
    const worked = copied(text);
    setDone(worked);
    notify(t(worked ? "copied" : "copy.refused"));
  };
  return html`<${Button} icon=${done ? "check" : "copy"} kind=${kind} onClick=${copy} label=${label} title=${label ? null : t("copy")}
    aria-label=${label ? null : `${t("copy")}: ${about}`} />`;
}
