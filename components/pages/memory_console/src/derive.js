// The form that opens a space by bot, session and isolation, whether or not anything is stored in it.
import { ask } from "./api.js";
import { byId, el } from "./dom.js";

/** Make the form work; `found` gets the space. */
export function setUpDerive(found) {
  const form = byId("derive-form");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    const session = byId("derive-session");
    button.disabled = true;
    complain("");
    try {
      const { space } = await ask("/derive", {
        bot_uuid: byId("derive-bot").value.trim(),
        session_name: session.value.trim(),
        isolation: byId("derive-isolation").value || null,
      });
      found(space);
    } catch (failure) {
      complain(failure.message);
      session.focus();
    } finally {
      button.disabled = false;
    }
  });
}

/** Offer the bots that are known as suggestions. */
export function suggestBots(spaces) {
  const bots = [...new Set(spaces.map((space) => space.bot_uuid).filter(Boolean))].sort();
  byId("bots").replaceChildren(...bots.map((bot) => el("option", { value: bot })));
}

function complain(text) {
  const problem = byId("derive-error");
  problem.textContent = text;
  problem.hidden = !text;
  byId("derive-session").setAttribute("aria-invalid", text ? "true" : "false");
}
