/** A button that opens the ways to save answers. */

import { useTexts } from "../texts/texts.js";
import { html, Icon, useRef, useState } from "../ui.js";

/** How answers can be saved. */
export const WAYS = ["markdown", "word", "print"];

/** Save turns in one of the ways, whose code comes when it is wanted. */
export const save = async (way, ...what) => (await import("./exporting.js")).WAYS[way](...what);

/** Save a file on the reader's disk. */
export const download = (name, content) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

/** The button; an icon if it has a `label`. `onProblem` learns if a part of the page can't be loaded. */
export const Save = ({ turns, title, label, onProblem }) => {
  const texts = useTexts();
  const { t } = texts;
  const [isOpen, setOpen] = useState(false);
  const button = useRef(null);
  const toggle = (to) => {
    // Safari doesn't focus what is clicked, and what never had the focus doesn't lose it.
    button.current.focus();
    setOpen(to);
  };
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !isOpen) return;
    // The source stays open.
    event.stopPropagation();
    toggle(false);
  };
  const onFocusOut = (event) => event.currentTarget.contains(event.relatedTarget) || setOpen(false);
  const press = async (way) => {
    toggle(false);
    await save(way, turns, texts, title).catch(() => onProblem({ status: 0, code: "unreachable" }));
  };
  return html`
    <div class="save" onKeyDown=${onKeyDown} onFocusOut=${onFocusOut}>
      <button
        type="button"
        ref=${button}
        class=${label ? "icon-button" : "tool"}
        aria-label=${label}
        title=${label}
        aria-expanded=${isOpen}
        onClick=${() => toggle(!isOpen)}
      >
        <${Icon} name="export" />${!label && t("save")}
      </button>
      ${
        isOpen &&
        // A button that is pressed must not take the focus first: that would close the menu.
        html`<div class="save-menu" onMouseDown=${(event) => event.preventDefault()}>
          ${WAYS.map((way) => html`<button type="button" onClick=${() => press(way)}>${t(`saveAs_${way}`)}</button>`)}
        </div>`
      }
    </div>
  `;
};
