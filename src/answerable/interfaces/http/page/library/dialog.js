/** A dialog that is open as long as it is rendered; the focus returns to where it was. */

import { useTexts } from "../texts/texts.js";
import { html, IconButton, useLayoutEffect, useRef } from "../ui.js";

export const Dialog = ({ title, onClose, children }) => {
  const { t } = useTexts();
  const dialog = useRef(null);
  // Before it is painted: who types at once types into it.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus();
  }, []);
  return html`
    <dialog class="dialog" ref=${dialog} aria-label=${title} onClose=${onClose}>
      <header>
        <h2>${title}</h2>
        <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
      </header>
      ${children}
    </dialog>
  `;
};
