// Calls to the plugin. It answers failures too, as {error: {code, text}}; what LangBot itself rejects has no usable text.
import { currentLanguage, has, t } from "./i18n.js";

/** A failure with words for people. */
export class Failure extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}

/** Ask the plugin; throws a `Failure`. */
export async function ask(endpoint, body = {}) {
  let answer;
  try {
    answer = await window.langbot.api(endpoint, { language: currentLanguage(), ...body });
  } catch (rejection) {
    const late = rejection && rejection.message === "Request timeout";
    throw new Failure(late ? "timeout" : "unreachable", t(late ? "error.timeout" : "error.unreachable"));
  }
  if (answer && answer.error) {
    const { code, text } = answer.error;
    throw new Failure(code, has(`error.${code}`) ? t(`error.${code}`) : text);
  }
  if (!answer || typeof answer !== "object") throw new Failure("unreachable", t("error.unreachable"));
  return answer;
}
