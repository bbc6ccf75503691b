// Small line drawings, one path each, in the colour of the text around them.
import { html } from "../html.js";

const PATHS = {
  refresh: "M16.5 9a6.6 6.6 0 1 0-1.6 5.3M16.5 4.5V9H12",
  search: "M14.5 9a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0zM13.2 13.2l3.6 3.6",
  chevron: "m7.5 4.5 5.5 5.5-5.5 5.5",
  back: "M12.5 4.5 7 10l5.5 5.5",
  person: "M13.2 7a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0zM4 16.5c.7-3 3.1-4.5 6-4.5s5.3 1.5 6 4.5",
  group: "M10.3 7.5a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0zM2.2 16c.6-2.6 2.7-4 5.3-4s4.7 1.4 5.3 4M13 4.900a2.8 2.8 0 0 1 0 5.200M14.6 12.300c1.7.5 2.8 1.8 3.2 3.7",
  bubble: "M5.5 3.500h9A2.5 2.5 0 0 1 17 6v5.500a2.5 2.5 0 0 1-2.5 2.500H10L6 17.200V14h-.5A2.5 2.5 0 0 1 3 11.500V6a2.5 2.5 0 0 1 2.5-2.500z",
  alert: "M10 3 2.5 16.500h15zM10 8v4M10 14.200v.1",
  copy: "M9 7h5.500a2 2 0 0 1 2 2v5.500a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2zM13 4.500A1.5 1.5 0 0 0 11.5 3H5.500A2.5 2.5 0 0 0 3 5.500v6A1.5 1.5 0 0 0 4.5 13",
  check: "m4 10.5 4 4 8-9",
  cross: "m5 5 10 10M15 5 5 15",
  edit: "M12.5 4.500l3 3L7 16H4v-3zM10.8 6.200l3 3",
  archive: "M3.5 4h13v3.500h-13zM4.5 7.500V16h11V7.500M8 10.500h4",
  restore: "M4 10a6 6 0 1 0 2-4.500L4 7.200M4 3.500v3.700h3.700M10 7v3.200l2.2 1.5",
  trash: "M4 5.500h12M8 5.500V3.500h4v2M5.5 5.500l.7 11h7.600l.7-11M8.5 8.500v5M11.5 8.500v5",
  filter: "M3 5h14M5.5 10h9M8 15h4",
  pulse: "M2.5 10.500h3.500l2-5 3.5 9.5 2.2-4.500h3.8",
  box: "M10 2.8 16.5 6v8L10 17.2 3.5 14V6zM3.5 6 10 9.3 16.5 6M10 9.300v7.9",
  plus: "M10 4v12M4 10h12",
  clock: "M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM10 6v4.200l2.8 1.6",
};

/** A picture beside words that say the same. */
export function Icon({ name }) {
  return html`<span class="icon" aria-hidden="true"><svg viewBox="0 0 20 20" focusable="false"><path d=${PATHS[name]} /></svg></span>`;
}
