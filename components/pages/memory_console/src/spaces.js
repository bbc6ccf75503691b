// The list of memory spaces on the left.
import { byId, el, icon } from "./dom.js";
import { ago, conversation, count } from "./format.js";
import { t } from "./i18n.js";

/** Show grey bars while the list loads. */
export function showLoading() {
  const bars = Array.from({ length: 4 }, () => el("div", { class: "skeleton", "aria-hidden": "true" }, el("i"), el("i")));
  byId("spaces").replaceChildren(...bars);
  byId("count").textContent = t("spaces.loading");
}

/** Show nothing on the left but the search box and the form. */
export function showNone() {
  byId("spaces").replaceChildren();
  byId("count").textContent = "";
}

/**
 * Show the spaces.
 * @param {Object[]} spaces - what to show
 * @param {{total: number, query: string, current: string, open: function(Object): void}} view
 */
export function showSpaces(spaces, { total, query, current, open }) {
  const list = byId("spaces");
  // Redrawing happens while people read: keep where they are.
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.space : null;
  const scrolled = list.querySelector("ul")?.scrollTop || 0;
  list.replaceChildren();
  if (spaces.length) list.append(el("ul", {}, ...spaces.map((space) => row(space, current, open))));
  if (scrolled && spaces.length) list.querySelector("ul").scrollTop = scrolled;
  if (focused) list.querySelector(`[data-space="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("count").textContent = summary(spaces.length, total, query);
}

function row(space, current, open) {
  const { id, kind, icon: picture } = conversation(space);
  const facts = [kind, `${t("space.profiles")} ${count(space.profiles)}`, `${t("space.memories")} ${count(space.episodes)}`];
  const button = el(
    "button",
    {
      type: "button",
      class: "space",
      title: space.session_name,
      "data-space": space.space_id,
      "aria-current": space.space_id === current ? "true" : "false",
      onclick: () => open(space),
    },
    icon(picture),
    el("span", { class: "name", text: id }),
    el("span", { class: "when", text: ago(space.last_activity) }),
    el("span", { class: "more", text: facts.join(" · ") }),
  );
  return el("li", {}, button);
}

function summary(shown, total, query) {
  if (!shown) return query ? t("spaces.noMatch", { query }) : "";
  return shown < total ? t("spaces.some", { shown: count(shown), total: count(total) }) : "";
}
