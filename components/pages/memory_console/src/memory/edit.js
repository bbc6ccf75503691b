// Changing a memory where it stands.
import { useEffect, useRef, useState } from "../vendor/preact-hooks.js";
import { html } from "../html.js";
import { useAction } from "../answers.js";
import { ask } from "../api.js";
import { t } from "../i18n.js";
import { Button } from "../parts/button.js";
import { Area, Choice, Text } from "../parts/fields.js";
import { notify } from "../parts/notice.js";
import { Problem } from "../parts/state.js";

const CONFLICT = "edit_changed";
const BETWEEN_TAGS = /[,，、]/;

/** The tags in a text: what stands between commas; tags that were there and hold one themselves stay whole. */
function read(text, before) {
  const parts = (tag) => tag.split(BETWEEN_TAGS).map((part) => part.trim()).filter(Boolean);
  const whole = before.filter((tag) => BETWEEN_TAGS.test(tag)).sort((one, other) => other.length - one.length);
  const found = parts(text);
  for (const tag of whole) {
    const wanted = parts(tag);
    const at = found.findIndex((_, place) => wanted.length && wanted.every((part, n) => found[place + n] === part));
    if (at >= 0) found.splice(at, wanted.length, tag);
  }
  return found;
}

/** The form; `done` is called after saving and when nothing is to be changed. */
export function Edit({ spaceId, episode, done }) {
  const [base, setBase] = useState(episode); // what the changes are made to
  const first = fields(base);
  const [form, setForm] = useState(first);
  const { busy, failure, run } = useAction();
  const box = useRef(null);
  useEffect(() => box.current?.querySelector("textarea")?.focus(), []);
  const set = (name) => (value) => setForm((before) => ({ ...before, [name]: value }));
  const changes = {};
  if (form.content !== first.content) changes.content = form.content;
  if (form.tags !== first.tags) changes.tags = read(form.tags, base.tags);
  if (form.importance !== first.importance) changes.importance = Number(form.importance);
  if (form.timestamp !== first.timestamp && form.timestamp) changes.timestamp = new Date(form.timestamp).toISOString();
  const seen = Object.fromEntries(Object.keys(changes).map((name) => [name, base[name]]));
  /** Somebody else was faster: show theirs, keep what was typed here, and take theirs where nothing was. */
  const meet = async () => {
    const now = (await ask("/episode", { space_id: spaceId, id: episode.id })).episode;
    setForm((before) => Object.fromEntries(Object.entries(fields(now)).map(([name, value]) => [name, name in changes ? before[name] : value])));
    setBase(now);
  };
  const save = (event) => {
    event.preventDefault();
    if (!Object.keys(changes).length) return done(false);
    return run(async () => {
      const { text } = await ask("/episode_edit", { space_id: spaceId, id: episode.id, ...changes, seen }).catch(async (problem) => {
        if (problem.code === CONFLICT) await meet();
        throw problem;
      });
      notify(text);
      done(true);
    });
  };
  const escape = (event) => event.key === "Escape" && done(false);
  return html`
    <form class="stack edit" novalidate ref=${box} onSubmit=${save} onKeyDown=${escape}>
      <${Area} label=${t("memory.content")} value=${form.content} change=${set("content")} rows=${Math.min(10, 2 + Math.ceil(form.content.length / 90))} />
      <div class="grid-fields">
        <${Text} label=${t("memory.tags")} value=${form.tags} change=${set("tags")} hint=${t("memory.tagsHint")} />
        <${Choice} label=${t("memory.importance")} value=${form.importance} change=${set("importance")} options=${["1", "2", "3", "4", "5"].map((n) => [n, t(`importance.${n}`)])} />
        <${Text} type="datetime-local" step="1" label=${t("memory.time")} value=${form.timestamp} change=${set("timestamp")} />
      </div>
      <${Problem} failure=${failure} />
      ${failure?.code === CONFLICT && html`<div class="note"><p class="hint">${t("memory.theirs")}</p><p class="content">${base.content}</p></div>`}
      <div class="row">
        <${Button} type="submit" kind="primary" busy=${busy}>${t("save")}<//>
        <${Button} onClick=${() => done(false)}>${t("cancel")}<//>
      </div>
    </form>`;
}

function fields({ content, tags, importance, timestamp }) {
  return { content, tags: tags.join(", "), importance: String(importance), timestamp: local(timestamp) };
}

/** Return a time as the field wants it: to the second, in the reader's zone. */
function local(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}
