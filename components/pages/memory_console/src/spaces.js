// The memory spaces that are known, a page after the other, and what else the plugin says along with them.
import { signal } from "./vendor/preact-signals.js";
import { ask } from "./api.js";
import { space } from "./place.js";

const SIZE = 60;

/** What is known of them: `phase` is "loading", "ready" or "failed". */
export const spaces = signal({ phase: "loading", failure: null, list: [], total: 0, knowledgeBase: null, untold: 0 });

/** What they are searched for and sorted by. */
export const search = signal("");
export const sort = signal("activity");

/** Whether a request is under way. */
export const loading = signal(false);
let lastRequest = 0;
let pages = 1;

/** Load what is shown of the list; with counts in a second round, which takes the server longer. */
export async function loadSpaces() {
  const request = ++lastRequest;
  loading.value = true;
  try {
    for (const counts of [false, true]) {
      const found = [];
      let answer = null;
      for (let page = 1; page <= pages; page += 1) {
        answer = await ask("/spaces", { search: search.value, sort: sort.value, counts, page, size: SIZE });
        if (request !== lastRequest) return;
        found.push(...answer.spaces);
      }
      take(found, answer, counts);
    }
  } catch (failure) {
    if (request === lastRequest) spaces.value = { ...spaces.value, phase: "failed", failure };
  } finally {
    if (request === lastRequest) loading.value = false;
  }
}

/** Search or sort anew, from the first page on. */
export function lookFor(changes) {
  if ("search" in changes) search.value = changes.search;
  if ("sort" in changes) sort.value = changes.sort;
  pages = 1;
  return loadSpaces();
}

/** Show one page more. */
export function loadMore() {
  pages += 1;
  return loadSpaces();
}

function take(found, answer, counted) {
  const before = new Map(spaces.value.list.map((one) => [one.space_id, one]));
  const list = found.map((one) => ({
    ...one,
    episodes: counted ? one.episodes : one.episodes ?? before.get(one.space_id)?.episodes ?? null,
  }));
  const { total, untold = 0, knowledge_base: knowledgeBase } = answer;
  spaces.value = { phase: "ready", failure: null, list, total, untold, knowledgeBase };
  const open = space.value && list.find((one) => one.space_id === space.value.space_id);
  if (open) space.value = open;
}
