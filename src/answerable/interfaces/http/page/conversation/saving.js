/** A button that opens the ways to save answers. */

import { WAYS } from "./exporting.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useRef, useState } from "../ui.js";

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
  const save = async (way) => {
    toggle(false);
    await way(turns, texts, title).catch(() => onProblem({ status: 0, code: "unreachable" }));
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
          ${Object.entries(WAYS).map(
            ([name, way]) => html`<button type="button" onClick=${() => save(way)}>${t(`saveAs_${name}`)}</button>`,
          )}
        </div>`
      }
    </div>
  `;
};
