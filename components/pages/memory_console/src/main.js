// Starts the page when LangBot has told its theme and language. Colours follow the theme by CSS variables.
import { render } from "./vendor/preact.js";
import { html } from "./html.js";
import { App } from "./app.js";
import { setLanguage } from "./i18n.js";
import { loadSpaces } from "./spaces.js";

window.langbot.onLanguageChange(setLanguage);
window.langbot.onReady(({ language }) => {
  setLanguage(language);
  render(html`<${App} />`, document.getElementById("app"));
  loadSpaces();
});
