// The right side: one memory space, or why there is none to show.
import { byId, el, icon } from "./dom.js";
import { ago, conversation, count, moment } from "./format.js";
import { t } from "./i18n.js";

/** Show a message in place of a space. `idle` ones give way to the list on small screens. */
export function showState({ picture = "bubble", title, text, steps = [], action = null, failed = false, idle = false }) {
  const body = [icon(picture), el("h2", { text: title })];
  if (text) body.push(el("p", { text }));
  if (steps.length) body.push(el("ol", {}, ...steps.map((step) => el("li", { text: step }))));
  if (action) body.push(el("button", { type: "button", class: "button", text: action.label, onclick: action.run }));
  const state = el("section", { class: failed ? "state failed" : "state", role: failed ? "alert" : "status" }, ...body);
  byId("detail").classList.toggle("idle", idle);
  byId("detail").replaceChildren(state);
}

/** Show a space. `back` returns to the list on small screens. */
export function showSpace(space, { known, advanced, back, toggled }) {
  const { id, kind, icon: picture } = conversation(space);
  const keys = el(
    "details",
    { class: "advanced", open: advanced, ontoggle: (event) => toggled(event.target.open) },
    el("summary", {}, icon("chevron"), el("span", { text: t("advanced.title") })),
    el(
      "dl",
      { class: "keys" },
      key("scope_key", space.scope_key, t("advanced.scopeKey")),
      key("user_key", space.user_key, t("advanced.userKey")),
      key("space_id", space.space_id, t("advanced.spaceId")),
    ),
  );
  byId("detail").classList.remove("idle");
  byId("detail").replaceChildren(
    el("button", { type: "button", class: "button quiet back", onclick: back }, icon("back"), el("span", { text: t("back") })),
    el(
      "section",
      { class: "card" },
      el(
        "header",
        {},
        icon(picture),
        el(
          "div",
          {},
          el("h2", { text: id, title: space.session_name }),
          el("p", { class: "hint", text: known ? kind : `${kind} · ${t("space.unknown")}` }),
        ),
      ),
      el(
        "dl",
        { class: "facts" },
        fact(t("space.profiles"), count(space.profiles)),
        fact(t("space.memories"), count(space.episodes)),
        fact(t("space.lastActivity"), ago(space.last_activity) || "–", moment(space.last_activity)),
      ),
      el(
        "dl",
        { class: "rows" },
        fact(t("space.isolation"), t(`isolation.${space.isolation}`)),
        fact(t("space.bot"), space.bot_uuid || t("space.noBot")),
      ),
      keys,
    ),
  );
}

function fact(name, value, title = "") {
  return el("div", {}, el("dt", { text: name }), el("dd", { text: value, title: title || null }));
}

function key(name, value, explanation) {
  const said = el("span", { class: "visually-hidden", role: "status" });
  const button = el("button", { type: "button", class: "button", title: t("copy"), "aria-label": `${t("copy")}: ${name}` }, icon("copy"));
  button.addEventListener("click", () => {
    if (!copied(value)) return;
    button.replaceChildren(icon("check"));
    said.textContent = t("copied");
    setTimeout(() => {
      button.replaceChildren(icon("copy"));
      said.textContent = "";
    }, 1600);
  });
  return el(
    "div",
    {},
    el("dt", { text: name }),
    el("dd", {}, el("code", { text: value }), button, said),
    el("p", { class: "hint", text: explanation }),
  );
}

/** Put text on the clipboard. The frame refuses the modern way; this one works on a click. */
function copied(text) {
  const area = el("textarea", { class: "visually-hidden", readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
