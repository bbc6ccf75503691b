// What the page shows when: loads the spaces, keeps the selection, redraws on theme and language changes.
import { ask } from "./api.js";
import { setUpDerive, suggestBots } from "./derive.js";
import { showSpace, showState } from "./detail.js";
import { byId, drawIcons, el, icon } from "./dom.js";
import { currentLanguage, setLanguage, t, translatePage } from "./i18n.js";
import { showLoading, showNone, showSpaces } from "./spaces.js";

const state = {
  phase: "loading", // "loading", "ready" or "failed"
  failure: null,
  spaces: [],
  total: 0,
  knowledgeBase: null,
  query: "",
  current: null, // the space shown on the right
  advanced: false,
};
let lastRequest = 0;
let pause = 0;
let drawn = ""; // what the right side shows; redrawn only when that changes, so that focus stays

/** Load the list, then once more with the number of memories, which takes the server longer. */
async function load() {
  const request = ++lastRequest;
  if (!state.spaces.length) state.phase = "loading";
  setBusy(true);
  draw();
  try {
    for (const counts of [false, true]) {
      const answer = await ask("/spaces", { search: state.query, counts });
      if (request !== lastRequest) return;
      take(answer, counts);
    }
  } catch (failure) {
    if (request !== lastRequest) return;
    Object.assign(state, { phase: "failed", failure });
    draw();
  } finally {
    if (request === lastRequest) setBusy(false);
  }
}

function take(answer, counted) {
  const before = new Map(state.spaces.map((space) => [space.space_id, space]));
  const spaces = answer.spaces.map((space) => ({
    ...space,
    episodes: counted ? space.episodes : space.episodes ?? before.get(space.space_id)?.episodes ?? null,
  }));
  suggestBots(spaces);
  Object.assign(state, { phase: "ready", failure: null, spaces, total: answer.total, knowledgeBase: answer.knowledge_base });
  if (state.current) state.current = spaces.find((space) => space.space_id === state.current.space_id) || state.current;
  draw();
}

function setBusy(busy) {
  byId("refresh").classList.toggle("busy", busy);
  byId("side").setAttribute("aria-busy", String(busy));
}

function open(space) {
  state.current = space;
  draw();
  byId("detail").focus({ preventScroll: false });
}

function back() {
  const closed = state.current;
  state.current = null;
  draw();
  const index = state.spaces.findIndex((space) => space.space_id === closed?.space_id);
  byId("spaces").querySelectorAll("button")[index]?.focus();
}

function draw() {
  const { phase, spaces, current } = state;
  byId("app").classList.toggle("opened", Boolean(current));
  drawBanner();
  if (phase === "loading") showLoading();
  else if (phase === "failed" && !spaces.length) showNone();
  else showSpaces(spaces, { total: state.total, query: state.query, current: current?.space_id, open });
  drawDetail();
}

function drawBanner() {
  const bare = state.phase === "ready" && !state.knowledgeBase && state.spaces.length > 0;
  const stale = state.phase === "failed" && state.spaces.length > 0;
  byId("banner").hidden = !(bare || stale);
  if (bare) byId("banner").replaceChildren(icon("alert"), el("p", { text: t("noKnowledgeBase.banner") }));
  if (stale) byId("banner").replaceChildren(icon("alert"), el("p", { text: `${t("spaces.failed")} ${state.failure.message}` }));
}

function drawDetail() {
  const { phase, spaces, current, knowledgeBase, query, failure } = state;
  const known = Boolean(current) && spaces.some((space) => space.space_id === current.space_id);
  const wanted = JSON.stringify([currentLanguage(), phase, current, known, knowledgeBase, query, failure?.message, !spaces.length]);
  if (wanted === drawn) return;
  drawn = wanted;
  if (current) {
    const toggled = (isOpen) => (state.advanced = isOpen);
    showSpace(current, { known, advanced: state.advanced, back, toggled });
  } else if (phase === "loading") {
    showState({ title: t("spaces.loading"), idle: true });
  } else if (phase === "failed" && !spaces.length) {
    const action = { label: t("retry"), run: load };
    showState({ picture: "alert", title: t("spaces.failed"), text: failure.message, action, failed: true });
  } else if (!knowledgeBase && !spaces.length && !query) {
    const steps = [t("noKnowledgeBase.create"), t("noKnowledgeBase.attach"), t("noKnowledgeBase.talk")];
    showState({ title: t("noKnowledgeBase.title"), steps });
  } else if (!spaces.length && !query) {
    showState({ title: t("spaces.empty"), text: t("spaces.emptyHint") });
  } else {
    showState({ title: t("select.title"), text: t("select.text"), idle: true });
  }
}

function relabel(language) {
  setLanguage(language);
  translatePage();
  draw();
}

function start({ language }) {
  drawIcons();
  byId("app").hidden = false;
  relabel(language);
  byId("refresh").addEventListener("click", load);
  byId("search").addEventListener("input", (event) => {
    state.query = event.target.value.trim();
    clearTimeout(pause);
    pause = setTimeout(load, 250);
  });
  setUpDerive((space) => {
    state.advanced = true; // the keys are what was asked for
    open(space);
  });
  load();
}

// Colours follow the theme by CSS variables, so only the language needs code.
window.langbot.onLanguageChange(relabel);
window.langbot.onReady(start);
