/** A window into a long list, so that a book or ten years of chat open quickly. */

import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

const SHOWN = 300;

const around = (index, size, shown) => ({ from: Math.max(0, index - shown / 2), to: Math.min(size, index + shown / 2) });

/** The part of a list to show: `from` and `to`, first around the focus, and `earlier()` and `later()` for more. */
export const useWindow = (size, focus, shown = SHOWN) => {
  const [chosen, setChosen] = useState(() => around(focus, size, shown));
  const { from, to } = focus < chosen.from || focus >= chosen.to ? around(focus, size, shown) : chosen;
  return {
    from,
    to,
    earlier: () => setChosen({ from: Math.max(0, from - SHOWN), to }),
    later: () => setChosen({ from, to: Math.min(size, to + SHOWN) }),
  };
};

/** What is shown of a list, between buttons for more. */
export const Windowed = ({ size, from, to, earlier, later, children }) => {
  const { t } = useTexts();
  return html`
    ${from > 0 && html`<button type="button" class="more" onClick=${earlier}>${t("showEarlier")}</button>`}
    ${children}
    ${to < size && html`<button type="button" class="more" onClick=${later}>${t("showLater")}</button>`}
  `;
};

/** Show items with `show(item, index)`, first those around the focus, with buttons for more. */
export const Window = ({ items, focus, show }) => {
  const shown = useWindow(items.length, focus);
  return html`
    <${Windowed} size=${items.length} ...${shown}>
      ${items.slice(shown.from, shown.to).map((item, index) => show(item, shown.from + index))}
    <//>
  `;
};

/** The index of the first item that touches the target, or the last one that starts before it. */
export const focusOf = (items, target) => {
  const touching = items.findIndex((item) => item.end > target.start);
  return touching < 0 ? Math.max(0, items.length - 1) : touching;
};
