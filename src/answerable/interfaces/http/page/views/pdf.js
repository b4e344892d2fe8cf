/**
 * A PDF with rectangles over the quote and selectable text. The cited page is drawn first, others when they come into view.
 */

import { useTexts } from "../texts/texts.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { widthOf } from "./zoom.js";

const VENDOR = new URL("page/vendor/", document.baseURI);
const NEAR = "600px 0px";
const SHARPEST = 3;
// A larger canvas stays empty on iPhones.
const MOST_PIXELS = 1 << 24;
// Drawn once, not at every step while the panel is dragged.
const SETTLED = 120;
const LONGEST_WAIT = 5_000;
export const A4 = { width: 595, height: 842 };

/** Open the PDF at an address; return pdf.js and the document, to be destroyed later. */
export const openPdf = async (address, httpHeaders) => {
  const pdfjs = await import("../vendor/pdf.min.mjs");
  pdfjs.GlobalWorkerOptions.workerSrc = new URL("pdf.worker.min.mjs", VENDOR).href;
  const loading = pdfjs.getDocument({
    url: new URL(address, document.baseURI).href,
    httpHeaders,
    // The pages to be drawn come before the rest of a large file.
    rangeChunkSize: 1 << 18,
    wasmUrl: VENDOR.href,
    useSystemFonts: true,
    disableFontFace: false,
    enableXfa: false,
    stopAtErrors: false,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  return { pdfjs, document: await loading.promise };
};

/** The pages with the quote by number, read first so that its place on them is known. */
export const getQuoted = async ({ document }, numbers) => {
  // A broken page stays white.
  const pages = await Promise.all(numbers.map((number) => document.getPage(number).catch(() => null)));
  return Object.fromEntries(numbers.map((number, index) => [number, pages[index]]));
};

const draw = async ({ pdfjs, page, canvas, layer, width, signal }) => {
  const viewport = page.getViewport({ scale: width / page.getViewport({ scale: 1 }).width });
  const finest = Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height));
  const density = Math.min(devicePixelRatio || 1, SHARPEST, finest);
  canvas.width = Math.floor(viewport.width * density);
  canvas.height = Math.floor(viewport.height * density);
  const drawing = page.render({ canvas, viewport, transform: [density, 0, 0, density, 0, 0] });
  signal.addEventListener("abort", () => drawing.cancel());
  layer.replaceChildren();
  layer.style.setProperty("--total-scale-factor", viewport.scale);
  const text = new pdfjs.TextLayer({ textContentSource: page.streamTextContent(), container: layer, viewport });
  signal.addEventListener("abort", () => text.cancel());
  await Promise.all([drawing.promise, text.render()]);
  // pdf.js measures text on it, and leaves it in the page.
  for (const measuring of document.querySelectorAll(".hiddenCanvasElement")) measuring.ariaHidden = "true";
};

/** Convert a rectangle in points from the lower left corner to fractions of the page. */
const boxOf = (viewport, { left, bottom, right, top }) => {
  const [x1, y1, x2, y2] = viewport.convertToViewportRectangle([left, bottom, right, top]);
  const part = (value, whole) => `${((100 * value) / whole).toFixed(3)}%`;
  return {
    left: part(Math.min(x1, x2), viewport.width),
    top: part(Math.min(y1, y2), viewport.height),
    width: part(Math.abs(x2 - x1), viewport.width),
    height: part(Math.abs(y2 - y1), viewport.height),
  };
};

/** Whether an element is on the screen or near it. */
const useNear = (element) => {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    // After scrolling several entries arrive at once; the last one counts.
    const look = (entries) => setNear(entries.at(-1).isIntersecting);
    // The margin applies only to the root, not to scrolling elements inside it.
    const root = element.current.closest(".panel-body");
    const observer = new IntersectionObserver(look, { root, rootMargin: NEAR });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isNear;
};

/** The rectangles of a quote on a page, or of what else is marked there, as `kind` says. */
const Marks = ({ viewport, rectangles, number, kind }) =>
  rectangles
    .filter(({ page }) => page === number)
    .map((each) => html`<div class=${kind} style=${boxOf(viewport, each)}></div>`);

const Page = ({ pdf, number, shape, marks, quoted, column, width, start, gate }) => {
  const { t } = useTexts();
  const [box, canvas, layer] = [useRef(null), useRef(null), useRef(null)];
  const [read, setRead] = useState(null);
  const page = quoted ?? read;
  const [isDrawn, setDrawn] = useState(false);
  const isNear = useNear(box);
  useEffect(() => {
    if (isNear && !page) pdf.document.getPage(number).then(setRead, () => {});
  }, [isNear]);
  useEffect(() => {
    if (!page || !isNear || !width) return undefined;
    const stopping = new AbortController();
    const options = { pdfjs: pdf.pdfjs, page, canvas: canvas.current, layer: layer.current, width };
    // A cancelled drawing or a broken page stays white.
    gate
      .wait(number)
      .then(() => stopping.signal.aborted || draw({ ...options, signal: stopping.signal }))
      .then(
        () => setDrawn(!stopping.signal.aborted),
        () => {},
      )
      .then(gate.open);
    return () => stopping.abort();
  }, [page, isNear, width]);
  useEffect(() => {
    if (isNear || !isDrawn) return;
    // Hundreds of drawn pages would fill the memory.
    canvas.current.width = 0;
    setDrawn(false);
  }, [isNear, isDrawn]);
  const viewport = page?.getViewport({ scale: 1 });
  const { width: across, height: down } = shape?.width ? shape : (viewport ?? A4);
  return html`
    <section
      class="pdf-page"
      ref=${box}
      data-page=${number}
      data-start=${start}
      data-drawn=${isDrawn}
      aria-label=${t("onPage", { n: number })}
      style=${{ aspectRatio: `${across} / ${down}` }}
    >
      <canvas ref=${canvas} aria-hidden="true"></canvas>
      ${viewport && marks.map((each) => html`<${Marks} ...${{ viewport, number, ...each }} />`)}
      ${column && html`<div class="pdf-column" style=${column}></div>`}
      <div class="textLayer" ref=${layer}></div>
    </section>
  `;
};

/** Pages wait until the first is drawn, or takes too long, as a broken one does. */
const gateOf = (first) => {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  setTimeout(open, LONGEST_WAIT);
  return { open, wait: (number) => (first && number !== first ? opened : Promise.resolve()) };
};

const useWidth = (element) => {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    let timer;
    const observer = new ResizeObserver(([entry]) => {
      const set = () => setWidth(Math.floor(entry.contentRect.width));
      clearTimeout(timer);
      timer = setTimeout(set, timer ? SETTLED : 0);
    });
    observer.observe(element.current);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  }, []);
  return width;
};

/**
 * The pages of an open PDF. `marks` are lists of `rectangles`, each of a `kind`; `sizes` those of the pages, so that none
 * moves when it is drawn; `first` the cited page, `across` points wide; `reading` how it is read; `quoted` the pages with
 * the quote; `starts` the offset of each page in the text.
 */
export const PdfView = ({ pdf, marks, sizes, first, across, reading, quoted, starts, zoom }) => {
  const list = useRef(null);
  const [gate] = useState(() => gateOf(first));
  const width = useWidth(list);
  // Where sizes aren't known, most pages are like the cited one.
  const usual = Object.values(quoted).find(Boolean)?.getViewport({ scale: 1 });
  const numbers = Array.from({ length: pdf.document.numPages }, (_, index) => index + 1);
  return html`
    <div class="pdf" ref=${list} style=${{ width: widthOf(zoom, across, reading) }}>
      ${numbers.map(
        (number) => html`
          <${Page}
            key=${number}
            pdf=${pdf}
            number=${number}
            shape=${sizes[number - 1] ?? usual}
            width=${width}
            start=${starts[number] ?? 0}
            marks=${marks}
            quoted=${quoted[number]}
            column=${number === first && reading.column}
            gate=${gate}
          />
        `,
      )}
    </div>
  `;
};
