/** How large the pages of a PDF are: the width at which their text reads well, and the bar that changes it. */

import { useTexts } from "../texts/texts.js";
import { html, IconButton, useLayoutEffect, useRef, useState } from "../ui.js";

// A point is 1/72 of an inch, a pixel 1/96.
const PIXELS = 96 / 72;
// Pixels of the smallest text that is read without effort on a screen at arm's length; a guess, not measured.
const READABLE = 11;
// Points of the text of a scan, which is unknown.
const USUAL = 10;
// Lines around a quote that tell how wide its column is: further away may be a title, or a table as wide as the page.
const AROUND = 5;
// A page between the lines' edge and the panel's, in pixels.
const MARGIN = 12;
const STEP = 1.25;
const [SMALLEST, LARGEST] = [0.25, 5];

/** Where an item of pdf.js's text is on the page as it is shown, in points. */
const placed = (viewport) => ({ str, transform, width, height }) => {
  const [a, b, , , x, y] = transform;
  const reach = width / (Math.hypot(a, b) || 1);
  const [from, to] = [viewport.convertToViewportPoint(x, y), viewport.convertToViewportPoint(x + a * reach, y + b * reach)];
  return {
    left: Math.min(from[0], to[0]),
    right: Math.max(from[0], to[0]),
    at: from[1],
    // Halves of a point: fonts of one paragraph differ by less.
    size: Math.round(2 * height) / 2,
    letters: str.trim().length,
  };
};

/** The size of most letters. */
const usualSize = (lines) => {
  const letters = new Map();
  for (const line of lines) if (line.size) letters.set(line.size, (letters.get(line.size) ?? 0) + line.letters);
  return [...letters].sort((one, other) => other[1] - one[1])[0]?.[0] || USUAL;
};

/** The column of the quote in `rectangles`, `{left, right}` in points; null without rectangles. */
const columnOf = (viewport, lines, size, rectangles) => {
  const corners = rectangles.flatMap(({ left, bottom, right, top }) => [
    viewport.convertToViewportPoint(left, bottom),
    viewport.convertToViewportPoint(right, top),
  ]);
  if (!corners.length) return null;
  const [across, down] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [left, right] = [Math.min(...across), Math.max(...across)];
  const [top, bottom] = [Math.min(...down) - AROUND * size, Math.max(...down) + AROUND * size];
  const near = lines.filter((line) => line.at > top && line.at < bottom && line.left < right && line.right > left);
  return {
    left: Math.min(left, ...near.map((line) => line.left)),
    right: Math.max(right, ...near.map((line) => line.right)),
  };
};

/**
 * How a page is read: `width` in pixels at which its text is large enough, and the `column` with the quote in
 * `rectangles`, as a style. A broken page has neither.
 */
export const getReading = async (page, rectangles) => {
  if (!page) return { width: 0 };
  const viewport = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent().catch(() => ({ items: [] }));
  const lines = items.filter(({ str }) => str?.trim()).map(placed(viewport));
  const size = usualSize(lines);
  const column = columnOf(viewport, lines, size, rectangles);
  const part = (points) => `${((100 * points) / viewport.width).toFixed(3)}%`;
  return {
    width: (viewport.width * READABLE) / size,
    column: column && { left: part(column.left), width: part(column.right - column.left) },
  };
};

/** The width of pages that are `across` points wide; `zoom` is `fit`, times their size on paper, or null for reading. */
export const widthOf = (zoom, across, reading) => {
  if (zoom === "fit") return "100%";
  return zoom ? `${zoom * across * PIXELS}px` : `max(min(100%, 60rem), ${reading.width}px)`;
};

/** Scroll across to the column that is read: the start of its lines is seen, if not all of them. */
const bringAcross = (body) => {
  const column = body.querySelector(".pdf-column")?.getBoundingClientRect();
  const around = body.getBoundingClientRect();
  if (column) body.scrollLeft += column.left - around.left - Math.max(MARGIN, (around.width - column.width) / 2);
};

/** Scroll to an element of a scrolled `body`, and across to the column that is read. */
export const bring = (body, found) => {
  const fits = found?.getBoundingClientRect().height < body.clientHeight;
  found?.scrollIntoView({ block: fits ? "center" : "start", inline: "nearest" });
  bringAcross(body);
};

/** The middle of an element, the panel at first, and where that is as parts of the pages' width and height. */
const middleOf = (body, element = body) => {
  const [{ left, top, width, height }, list] = [element, body.querySelector(".pdf")].map((each) =>
    each.getBoundingClientRect(),
  );
  const [x, y] = [left + width / 2, top + height / 2];
  return { x, y, across: (x - list.left) / list.width, down: (y - list.top) / list.height };
};

/** The quote if it is seen. */
const seenQuote = (body) => {
  const quote = body.querySelector(".pdf-quote");
  const [{ top, bottom }, around] = [quote ?? body, body].map((each) => each.getBoundingClientRect());
  return bottom > around.top && top < around.bottom ? quote : null;
};

/** The page in the middle, and the width of all. */
const useShown = (body) => {
  const [page, setPage] = useState(1);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const scrolled = body.current;
    const list = scrolled.querySelector(".pdf");
    const look = () => {
      const { y } = middleOf(scrolled);
      const after = [...list.children].findIndex((each) => each.getBoundingClientRect().bottom > y);
      setPage(after < 0 ? list.children.length : after + 1);
    };
    const observer = new ResizeObserver(([entry]) => {
      setWidth(entry.contentRect.width);
      look();
    });
    observer.observe(list);
    scrolled.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      scrolled.removeEventListener("scroll", look);
    };
  }, []);
  return { page, width };
};

/** The bar: the page of how many, and how large they are; `body` scrolls them, `across` is their width in points. */
export const ZoomBar = ({ body, count, across, zoom, onZoom }) => {
  const { t, number, percent } = useTexts();
  const { page, width } = useShown(body);
  const held = useRef(null);
  const scale = width / (across * PIXELS);
  const change = (next) => {
    const quote = seenQuote(body.current);
    held.current = { ...middleOf(body.current, quote ?? undefined), isQuote: Boolean(quote) };
    onZoom(next);
  };
  // The quote stays where it is; if it isn't seen, what is in the middle.
  useLayoutEffect(() => {
    if (!held.current) return;
    const { across: x, down: y } = held.current;
    const list = body.current.querySelector(".pdf").getBoundingClientRect();
    body.current.scrollBy(list.left + x * list.width - held.current.x, list.top + y * list.height - held.current.y);
    if (held.current.isQuote) bringAcross(body.current);
    held.current = null;
  }, [zoom]);
  const by = (factor) => () => change(Math.min(LARGEST, Math.max(SMALLEST, scale * factor)));
  const go = ({ currentTarget: field }) => {
    const wanted = Math.min(count, Math.max(1, Number.parseInt(field.value, 10) || page));
    bring(body.current, body.current.querySelector(`.pdf-page[data-page="${wanted}"]`));
    field.value = wanted;
  };
  return html`
    <div class="pdf-bar" role="group" aria-label=${t("pages")}>
      <label class="pdf-number">
        <input
          inputmode="numeric"
          autocomplete="off"
          aria-label=${t("goToPage")}
          style=${{ width: `${String(count).length + 2}ch` }}
          value=${page}
          onFocus=${(event) => event.currentTarget.select()}
          onChange=${go}
        />
        <span>/ ${number(count)}</span>
      </label>
      <${IconButton} icon="less" label=${t("smaller")} onClick=${by(1 / STEP)} disabled=${scale <= SMALLEST} />
      <button type="button" class="pdf-size" title=${t("actualSize")} onClick=${() => change(1)}>
        <span class="heard">${t("actualSize")}: </span>${percent(scale)}
      </button>
      <${IconButton} icon="add" label=${t("larger")} onClick=${by(STEP)} disabled=${scale >= LARGEST} />
      <${IconButton}
        icon="width"
        label=${t("fitWidth")}
        aria-pressed=${zoom === "fit"}
        onClick=${() => change(zoom === "fit" ? null : "fit")}
      />
    </div>
  `;
};
