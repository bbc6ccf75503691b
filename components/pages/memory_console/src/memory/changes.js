// Archiving, restoring and deleting memories, one or many; what can be taken back offers it.
import { ask } from "../api.js";
import { count } from "../format.js";
import { t } from "../i18n.js";
import { notify } from "../parts/notice.js";

const AT_ONCE = 200;
const BACK = { archive: "restore", restore: "archive" };

/**
 * Archive or restore memories and say so, with a way back.
 * @param {string} spaceId
 * @param {string} action - "archive" or "restore"
 * @param {string[]} ids
 * @param {function()} after - to load anew what is shown
 */
export async function change(spaceId, action, ids, after) {
  const found = { done: [], failed: [], remaining: [] };
  for (const part of parts(ids)) await all(spaceId, action, part, found, ids.length);
  const back = () => change(spaceId, BACK[action], found.done, after).catch((failure) => notify(failure.message, { failed: true }));
  tell(action, found, found.done.length ? back : null);
  after();
}

/** Say what deleting would delete; returns the question and the codes that confirm it. */
export async function askToDelete(spaceId, ids) {
  const codes = [];
  let [total, older] = [0, 0];
  for (const part of parts(ids)) {
    const answer = await ask("/episodes_change", { space_id: spaceId, ids: part, action: "delete" });
    codes.push(answer.code);
    total += answer.count;
    older += answer.older;
  }
  const more = older ? ` ${t("delete.older", { count: count(older) })}` : "";
  return { question: t("delete.question", { count: count(total) }) + more, code: codes };
}

/** Delete memories for good, with the codes of the question. */
export async function remove(spaceId, ids, codes, after) {
  const found = { done: [], failed: [], remaining: [] };
  for (const [at, part] of parts(ids).entries()) {
    // Without a code there is nothing of that part left to delete.
    if (!codes[at]) continue;
    const answer = await ask("/episodes_change", { space_id: spaceId, ids: part, action: "delete", code: codes[at] });
    add(found, answer);
    found.remaining.push(...answer.remaining);
    onTheWay("delete", found, ids.length);
  }
  tell("delete", found);
  after();
}

/** Send a selection until nothing of it is left, or nothing gets done any more. */
async function all(spaceId, action, ids, found, total) {
  let left = ids;
  while (left.length) {
    const answer = await ask("/episodes_change", { space_id: spaceId, ids: left, action });
    add(found, answer);
    left = answer.remaining;
    if (!answer.done.length) break;
    onTheWay(action, found, total);
  }
  found.remaining.push(...left);
}

/** Say how far it is. */
function onTheWay(action, { done }, total) {
  if (done.length < total) notify(t("done.progress", { action: t(action), done: count(done.length), total: count(total) }));
}

function add(found, { done, failed }) {
  found.done.push(...done);
  found.failed.push(...failed);
}

function parts(ids) {
  return Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, n) => ids.slice(n * AT_ONCE, (n + 1) * AT_ONCE));
}

function tell(action, { done, failed, remaining }, undo = null) {
  const missed = failed.length + remaining.length;
  const said = done.length || !missed ? [t(`done.${action}`, { count: count(done.length) })] : [];
  if (missed) said.push(t("done.failed", { count: count(missed), why: failed[0]?.text || "" }).trim());
  notify(said.join(" "), { undo, failed: missed > 0 });
}
