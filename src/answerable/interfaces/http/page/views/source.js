/** The panel beside the conversation: a source with the quote marked. */

import { getDocument, getPages, getPdf, getPicture, getRectangles } from "../api/documents.js";
import { fileOf, isFile, nameOf, placesOf, siteOf } from "../texts/places.js";
import { Trouble, Working } from "../status.js";
import { SelectionButton } from "./selection.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, lazily, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { More } from "./original.js";
import { A4, getQuoted, PdfView } from "./pdf.js";
import { bring, getReading, ZoomBar } from "./zoom.js";

const chat = () => import("./chat.js").then((found) => found.ChatView);
const markdown = () => import("./markdown.js").then((found) => found.MarkdownView);
const sheet = () => import("./markdown.js").then((found) => found.SheetView);
const recording = () => import("./recording.js").then((found) => found.RecordingView);
const lines = (name) => () => import("./lines.js").then((found) => found[name]);

/** Loads the view of a type of document. */
const VIEWS = {
  chat,
  code: lines("CodeView"),
  markdown,
  html: markdown,
  docx: markdown,
  epub: markdown,
  notebook: markdown,
  odt: markdown,
  rtf: markdown,
  slides: markdown,
  spreadsheet: sheet,
  records: lines("RecordsView"),
  recording,
  subtitles: recording,
};
const PictureView = lazily(() => import("./picture.js").then((found) => found.PictureView));
const Separator = lazily(() => import("./separator.js").then((found) => found.Separator));
const Player = lazily(() => import("./recording.js").then((found) => found.Player));
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

// Documents that are mostly a table: their page sorts, filters and adds it up.
const WITH_TABLES = ["records", "spreadsheet"];
const MOST_OTHERS = 5;

const isInArchive = ({ source }) => source.includes("!/");

const spanOf = ([start, end]) => ({ start, end });

/** The other quotes of the same answer in the same document. */
const othersOf = (place, places) =>
  places.filter((other) => other !== place && other.quote && other.document_id === place.document_id);

/** The marks of a PDF or picture: the quote, the words in it that answer, and other quotes; none if it has none. */
const getMarks = (library, place, places) => {
  const spans = [
    ["pdf-quote", place],
    ...(place.answer ? [["pdf-answer", spanOf(place.answer)]] : []),
    ...othersOf(place, places)
      .slice(0, MOST_OTHERS)
      .map((other) => ["pdf-also", other]),
  ].filter(([, { start, end }]) => start < end);
  const get = async ([kind, span]) => ({
    kind,
    rectangles: await getRectangles(library, place.document_id, span).catch(() => []),
  });
  return Promise.all(spans.map(get));
};

/** What a PDF's view needs; null if there is only its text. */
const loadPdf = async (library, place, places) => {
  const [pdf, sizes, marks] = await Promise.all([
    getPdf(library, place.document_id),
    getPages(library, place.document_id),
    getMarks(library, place, places),
  ]);
  if (!pdf) return null;
  const marked = marks.flatMap(({ rectangles }) => rectangles.map(({ page }) => page));
  // Text that was recognised on a scan has no rectangles.
  const first = marks[0]?.rectangles[0]?.page ?? place.pages?.[0] ?? 1;
  const quoted = await getQuoted(pdf, [...new Set([first, ...marked])]);
  const across = sizes[first - 1]?.width || (quoted[first]?.getViewport({ scale: 1 }) ?? A4).width;
  const reading = await getReading(quoted[first], marks[0]?.rectangles.filter(({ page }) => page === first) ?? []);
  return { pdf, sizes, marks, first, quoted, across, reading };
};

const loadPicture = async (library, place, places) => {
  const picture = await getPicture(library, place.document_id);
  return picture && { picture, marks: await getMarks(library, place, places) };
};

const load = async (library, place, places) => {
  // Most PDFs are called so: theirs needn't wait for the text.
  const early = /\.pdf$/i.test(place.source) && !isInArchive(place) ? loadPdf(library, place, places) : null;
  early?.catch(() => {});
  const document = await getDocument(library, place.document_id);
  const { type } = document;
  const drawn =
    type === "pdf" && !isInArchive(place)
      ? await (early ?? loadPdf(library, place, places))
      : type === "picture" && (await loadPicture(library, place, places));
  return { place, document, ...(drawn || { TypeView: await (VIEWS[type] ?? lines("TextView"))() }) };
};

/** Load a place: the document with everything its view needs, or the problem. */
const useSource = (library, place, places) => {
  const [found, setFound] = useState({});
  useEffect(() => {
    let isWanted = true;
    load(library, place, places).then(
      (loaded) => isWanted && setFound(loaded),
      (problem) => isWanted && setFound({ place, problem }),
    );
    return () => (isWanted = false);
  }, [library, place]);
  // Keep the open source until the next one is loaded.
  return found;
};

const startsOf = (parts) => {
  const starts = {};
  for (const part of parts) starts[part.page] ??= part.start;
  return starts;
};

const View = ({ document, TypeView, pdf, picture, marks, place, places, ...rest }) => {
  const { content, offsets, parts, type, metadata } = document;
  const inUnits = ({ start, end }) => ({ start: offsets.toUnits(start), end: offsets.toUnits(end) });
  if (pdf)
    return html`<${PdfView}
      key=${document.document_id}
      pdf=${pdf}
      marks=${marks}
      starts=${startsOf(parts)}
      ...${rest}
    />`;
  if (picture)
    return html`<${PictureView}
      key=${document.document_id}
      picture=${picture}
      text=${content}
      marks=${marks}
    />`;
  const target = {
    ...inUnits(place),
    answer: place.answer && inUnits(spanOf(place.answer)),
    also: othersOf(place, places).map(inUnits),
  };
  return html`<${TypeView}
    key=${document.document_id}
    ...${{ content, parts, target, type, metadata }}
  />`;
};

const Steps = ({ places, at, onStep }) => {
  const { t, number } = useTexts();
  if (places.length < 2) return null;
  return html`
    <div class="steps" role="group" aria-label=${t("sources")}>
      <${IconButton} icon="back" label=${t("previousSource")} onClick=${() => onStep(-1)} />
      <span>${number(at + 1)} / ${number(places.length)}</span>
      <${IconButton} icon="next" label=${t("nextSource")} onClick=${() => onStep(1)} />
    </div>
  `;
};

const Head = ({ library, place, places, at, onStep, onClose }) => {
  const texts = useTexts();
  const { t } = texts;
  const site = siteOf(place);
  return html`
    <header class="panel-head">
      <div class="panel-title">
        <h2>${nameOf(place)}</h2>
        <p class="muted">
          ${placesOf(place, texts)}
          ${
            site &&
            html`<a href=${site} target="_blank" rel="noopener noreferrer">${t("openSite")}<${Icon} name="open" /></a>`
          }
          ${WITH_TABLES.includes(place.type) && html`<a href="#document=${place.document_id}">${t("asTable")}</a>`}
          ${isFile(place) && nameOf(place) !== place.source && html`<span class="panel-file">${fileOf(place)}</span>`}
        </p>
      </div>
      <${Steps} places=${places} at=${at} onStep=${onStep} />
      <${More} key=${place.document_id} library=${library} place=${place} />
      <${IconButton} icon="close" label=${t("closeSource")} onClick=${onClose} />
    </header>
  `;
};

/** Scroll to the quote, or to the page that it is on. */
const reveal = (body, page) => {
  const quote = body.querySelector("mark:not(.syntax, .also), .pdf-quote");
  bring(body, quote ?? body.querySelector(`.pdf-page[data-page="${page}"]`));
};

// Subtitles have seconds, but no sound.
const isHeard = ({ document, place }) =>
  document?.type === "recording" || (document?.type === "chat" && Boolean(place.seconds));

/** The panel. Arrows step through `places`; `at` is the one shown. */
export const SourcePanel = ({ library, places, at, isOffered, onStep, onClose, onAskAbout }) => {
  const { t } = useTexts();
  const [panel, body] = [useRef(null), useRef(null)];
  const [zoom, setZoom] = useState(null);
  const place = places[at];
  const found = useSource(library, place, places);
  const isShown = found.place === place && Boolean(found.document);
  // What was offered leaves the focus in the question's field.
  useEffect(() => isOffered || panel.current.focus({ preventScroll: true }), [isOffered]);
  // Before it is painted, so that nothing else is drawn first.
  useLayoutEffect(() => {
    if (isShown) reveal(body.current, found.first);
  }, [isShown, place]);
  const step = (event) => {
    // Up and down scroll; so do left and right what is wider than the panel, once it has the focus.
    const scrolls = event.target === body.current && event.target.scrollWidth > event.target.clientWidth;
    if (!STEPS[event.key] || places.length < 2 || event.altKey || scrolls || event.target.matches("input")) return;
    event.preventDefault();
    onStep(STEPS[event.key]);
  };
  return html`
    <aside class="panel" ref=${panel} tabindex="-1" aria-label=${t("source")} data-shown=${isShown} onKeyDown=${step}>
      <${Separator} />
      <${Head} library=${library} place=${place} places=${places} at=${at} onStep=${onStep} onClose=${onClose} />
      <div class="panel-body" ref=${body} tabindex="0" role="region" aria-label=${nameOf(place)}>
        ${found.problem && html`<${Trouble} problem=${found.problem} />`}
        ${!found.problem && !found.document && html`<${Working}>${t("opening")}<//>`}
        ${isHeard(found) && html`<${Player} library=${library} document=${found.document} place=${found.place} />`}
        ${found.document && html`<${View} ...${found} places=${places} zoom=${zoom} />`}
        ${found.document && html`<${SelectionButton} within=${body} document=${found.document} onAsk=${onAskAbout} />`}
      </div>
      ${
        found.pdf &&
        html`<${ZoomBar}
          key=${found.document.document_id}
          body=${body}
          count=${found.pdf.document.numPages}
          across=${found.across}
          zoom=${zoom}
          onZoom=${setZoom}
        />`
      }
    </aside>
  `;
};
