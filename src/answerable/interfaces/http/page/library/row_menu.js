/** The actions of a row, in a menu above everything else: no frame cuts it, and the browser closes it. */

import { html, IconButton, useRef } from "../ui.js";

// Lower on the screen, the menu opens upwards.
const LOW = 2 / 3;

/** The button, named `label`, with its menu; `id` is the only one on the page. */
export const RowMenu = ({ id, label, children }) => {
  const menu = useRef(null);
  const close = () => menu.current?.hidePopover();
  const place = ({ currentTarget: button }) => {
    const { top, bottom, right } = button.getBoundingClientRect();
    const isLow = bottom > innerHeight * LOW;
    const inset = [isLow ? "auto" : `${bottom}px`, `${innerWidth - right}px`, isLow ? `${innerHeight - top}px` : "auto", "auto"];
    menu.current.style.inset = inset.join(" ");
    // The row moves, the menu doesn't.
    addEventListener("scroll", close, { capture: true, once: true });
  };
  return html`
    <${IconButton} icon="more" label=${label} popovertarget=${id} onClick=${place} />
    <div class="panel-menu" id=${id} popover ref=${menu} onClick=${close}>${children}</div>
  `;
};
