/** The edge of the panel, by which it is made wider or narrower. */

import { keep } from "../preferences.js";
import { useTexts } from "../texts/texts.js";
import { html, useLayoutEffect, useRef, useState } from "../ui.js";

// Percent of what is beside the panel and it; the style sheet leaves the conversation a readable width.
const [NARROWEST, WIDEST] = [25, 75];
const STEP = 2;

const within = (share) => Math.min(WIDEST, Math.max(NARROWEST, share));

/** The separator; arrow keys move it too, and a double click puts it back. */
export const Separator = () => {
  const { t } = useTexts();
  const edge = useRef(null);
  const [share, setShare] = useState(NARROWEST);
  const measure = () => {
    const [panel, stage] = [".panel", ".stage"].map((name) => edge.current.closest(name).clientWidth);
    return (100 * panel) / stage;
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setShare(Math.round(within(measure()))));
    observer.observe(edge.current.closest(".panel"));
    return () => observer.disconnect();
  }, []);
  const styleOf = () => edge.current.closest(".stage").style;
  // Without a render of the whole page, which a drag would ask for at every step.
  const move = (to) => styleOf().setProperty("--panel", to);
  const moved = (to) => {
    move(to);
    keep("panel", to);
  };
  const drag = (event) => {
    if (!edge.current.hasPointerCapture(event.pointerId)) return;
    const { right, width } = edge.current.closest(".stage").getBoundingClientRect();
    move(`${within((100 * (right - event.clientX)) / width)}%`);
  };
  const onKeyDown = (event) => {
    const to = {
      ArrowLeft: measure() + STEP,
      ArrowRight: measure() - STEP,
      Home: NARROWEST,
      End: WIDEST,
    }[event.key];
    if (!to) return;
    event.preventDefault();
    // Elsewhere in the panel these keys go to another source.
    event.stopPropagation();
    moved(`${within(to)}%`);
  };
  return html`
    <div
      class="panel-edge"
      ref=${edge}
      role="separator"
      tabindex="0"
      aria-orientation="vertical"
      aria-label=${t("panelWidth")}
      aria-valuemin=${NARROWEST}
      aria-valuemax=${WIDEST}
      aria-valuenow=${share}
      onKeyDown=${onKeyDown}
      onPointerDown=${(event) => edge.current.setPointerCapture(event.pointerId)}
      onPointerMove=${drag}
      onLostPointerCapture=${() => keep("panel", styleOf().getPropertyValue("--panel"))}
      onDblClick=${() => moved("")}
    ></div>
  `;
};
