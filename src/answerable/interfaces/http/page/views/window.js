/** A window into a long list, so that a book or ten years of chat open quickly. */

import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

const SHOWN = 300;

const around = (index, size) => ({ from: Math.max(0, index - SHOWN / 2), to: Math.min(size, index + SHOWN / 2) });

/** Show items with `show(item, index)`, first those around the focus, with buttons for more. */
export const Window = ({ items, focus, show }) => {
  const { t } = useTexts();
  const [chosen, setShown] = useState(() => around(focus, items.length));
  const { from, to } = focus < chosen.from || focus >= chosen.to ? around(focus, items.length) : chosen;
  return html`
    ${
      from > 0 &&
      html`<button type="button" class="more" onClick=${() => setShown({ from: Math.max(0, from - SHOWN), to })}>
        ${t("showEarlier")}
      </button>`
    }
    ${items.slice(from, to).map((item, index) => show(item, from + index))}
    ${
      to < items.length &&
      html`<button
        type="button"
        class="more"
        onClick=${() => setShown({ from, to: Math.min(items.length, to + SHOWN) })}
      >
        ${t("showLater")}
      </button>`
    }
  `;
};

/** The index of the first item that touches the target, or the last one that starts before it. */
export const focusOf = (items, target) => {
  const touching = items.findIndex((item) => item.end > target.start);
  return touching < 0 ? Math.max(0, items.length - 1) : touching;
};
