// Calls to the plugin. It answers failures too, as {error: {code, text}}; what LangBot itself rejects has no usable text.
import { known, language, t } from "./i18n.js";

const SPOKEN = document.getElementById("i18n").dataset.spoken.split(" "); // the languages of the plugin's own sentences

/** Return the language that the plugin speaks and the reader reads: theirs, or another way to write it; else none. */
function shared(wanted) {
  return SPOKEN.find((one) => one === wanted) || SPOKEN.find((one) => one.split("_")[0] === wanted.split("_")[0]);
}

/** Whether the plugin's own sentences are in the reader's language. */
export function speaks() {
  return Boolean(shared(language.value));
}

/** A failure with words for people. */
export class Failure extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

const AGAIN = "still_reading"; // a large space is read for the first time; the same request gets further
const TRIES = 20;

/** Ask the plugin, again while it is still reading; throws a `Failure`. */
export async function ask(endpoint, body = {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await once(endpoint, body);
    } catch (failure) {
      if (failure.code !== AGAIN || tries === TRIES) throw failure;
    }
  }
}

async function once(endpoint, body) {
  let answer;
  try {
    answer = await window.langbot.api(endpoint, { language: shared(language.peek()) || language.peek(), ...body });
  } catch (rejection) {
    const late = rejection && rejection.message === "Request timeout";
    throw new Failure(late ? "timeout" : "unreachable", t(late ? "error.timeout" : "error.unreachable"));
  }
  if (answer && answer.error) {
    const { code, text } = answer.error;
    throw new Failure(code, speaks() ? text : known(`error.${code}`, text));
  }
  if (!answer || typeof answer !== "object") throw new Failure("unreachable", t("error.unreachable"));
  return answer;
}
