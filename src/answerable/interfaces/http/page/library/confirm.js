/** A button that asks before it does what can't be undone. */

import { useTexts } from "../texts/texts.js";
import { html, useLayoutEffect, useRef, useState } from "../ui.js";

/** `label` names the button for screen readers, `what` is written on it, `now` on the button that confirms. */
export const ConfirmButton = ({ label, what, now, onConfirm }) => {
  const { t } = useTexts();
  const [isAsked, setAsked] = useState(null);
  const place = useRef(null);
  useLayoutEffect(() => {
    // The button that had the focus is gone.
    if (isAsked !== null) place.current.lastElementChild.focus();
  }, [isAsked]);
  return html`
    <span class="confirm" ref=${place}>
      ${
        isAsked
          ? html`<button type="button" class="link danger" onClick=${onConfirm}>${now}</button>
              <button type="button" class="link" onClick=${() => setAsked(false)}>${t("keepIt")}</button>`
          : html`<button type="button" class="link" aria-label=${label} onClick=${() => setAsked(true)}>
              ${what}
            </button>`
      }
    </span>
  `;
};
