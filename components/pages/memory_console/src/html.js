// The only place that makes elements: templates become preact's nodes. Whatever is filled in is text, never markup.
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

/** Template tag: html`<p class=${name}>${text}</p>`. */
export const html = htm.bind(h);
