// Calls to the plugin. It answers failures too, as {error: {code, text}}, in the language it is asked in; what LangBot itself rejects has no usable text.
import { language, t } from "./i18n.js";
import { forget } from "./kept.js";

/** A failure with words for people. */
export class Failure extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

const CHANGING = /^\/(episodes_change|episode_edit|profile_change|import|erase_\w+|backup_\w+|restore_file)$/;
const AGAIN = { still_reading: 20, too_slow: 3 }; // how often the same request gets further: a large space is read for the first time

/**
 * Ask the plugin, again while it is still reading; throws a `Failure`.
 * @param {function(string)} waits - told why it takes longer, in words for people
 */
export async function ask(endpoint, body = {}, waits = () => {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await once(endpoint, body);
    } catch (failure) {
      if (tries >= (AGAIN[failure.code] || 0)) throw failure;
      waits(failure.message);
    }
  }
}

async function once(endpoint, body) {
  let answer;
  try {
    answer = await window.langbot.api(endpoint, { language: language.peek(), ...body });
  } catch (rejection) {
    const late = rejection && rejection.message === "Request timeout";
    throw new Failure(late ? "timeout" : "unreachable", t(late ? "error.timeout" : "error.unreachable"));
  } finally {
    if (CHANGING.test(endpoint)) forget();
  }
  if (answer && answer.error) {
    throw new Failure(answer.error.code, answer.error.text);
  }
  if (!answer || typeof answer !== "object") throw new Failure("unreachable", t("error.unreachable"));
  return answer;
}
