/** The page's keys, and the dialogs that they open. */

import { html, lazily, useEffect } from "../ui.js";

const Finder = lazily(() => import("./finder.js").then((found) => found.Finder));
const Shortcuts = lazily(() => import("./shortcuts.js").then((found) => found.Shortcuts));

const typesInto = (element) => element.matches("input, textarea, select, [contenteditable]");

/**
 * `/` focuses the question, Ctrl-K or Cmd-K finds, `?` shows the keys, Escape closes the source. `open` is `finder`,
 * `shortcuts` or empty; what else is given goes to the finder.
 */
export const Keys = ({ field, open, onOpen, onEscape, onProblem, ...finding }) => {
  const actionOf = ({ key, ctrlKey, metaKey, target }) => {
    if (ctrlKey || metaKey) return key === "k" && (() => onOpen("finder"));
    if (typesInto(target)) return null;
    if (key === "?") return () => onOpen("shortcuts");
    return key === "/" && field.current && (() => field.current.focus());
  };
  useEffect(() => {
    const press = (event) => {
      if (document.querySelector("dialog[open], :popover-open")) return;
      if (event.key === "Escape") onEscape();
      const act = actionOf(event);
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [onEscape]);
  // The event of a dialog that closes may come when a key has opened the other one.
  const closing = (name) => ({ onClose: () => onOpen((now) => (now === name ? "" : now)), onProblem });
  return html`
    ${open === "finder" && html`<${Finder} ...${finding} ...${closing("finder")} />`}
    ${open === "shortcuts" && html`<${Shortcuts} ...${closing("shortcuts")} />`}
  `;
};
