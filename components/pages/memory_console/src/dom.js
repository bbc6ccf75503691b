// The only place that makes elements. Text goes in as text, never as markup.

/** Return the element with that id. */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Make an element.
 * @param {string} tag
 * @param {Object<string, *>} properties - `class`, `text`, `on<event>` handlers, anything else is an attribute
 * @param {...(Node|null)} children
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter(Boolean));
  return node;
}

/** Return a copy of the icon drawn in the template `icon-<name>`. */
export function icon(name) {
  const box = el("span", { class: "icon" });
  box.append(byId(`icon-${name}`).content.cloneNode(true));
  return box;
}

/** Draw the icons that the page asks for with `data-icon`. */
export function drawIcons() {
  for (const box of document.querySelectorAll("[data-icon]")) {
    box.replaceChildren(byId(`icon-${box.dataset.icon}`).content.cloneNode(true));
  }
}
