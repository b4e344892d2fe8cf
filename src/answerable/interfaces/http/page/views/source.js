/** The panel beside the conversation: a source with the quote marked. */

import { getDocument, getPdf, getPicture, getRectangles } from "../api/documents.js";
import { isFile, nameOf, placeOf, siteOf } from "../texts/places.js";
import { Trouble, Working } from "../status.js";
import { SelectionButton } from "./selection.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useRef, useState } from "../ui.js";
import { ChatView } from "./chat.js";
import { CodeView, TextView } from "./lines.js";
import { MarkdownView } from "./markdown.js";
import { getQuoted, PdfView } from "./pdf.js";
import { PictureView } from "./picture.js";
import { Player, RecordingView } from "./recording.js";

const VIEWS = {
  chat: ChatView,
  code: CodeView,
  markdown: MarkdownView,
  html: MarkdownView,
  docx: MarkdownView,
  epub: MarkdownView,
  notebook: MarkdownView,
  odt: MarkdownView,
  rtf: MarkdownView,
  slides: MarkdownView,
  spreadsheet: MarkdownView,
  recording: RecordingView,
};
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

const load = async (library, place) => {
  const document = await getDocument(library, place.document_id);
  const pdf = document.type === "pdf" ? await getPdf(library, place.document_id) : null;
  const picture = document.type === "picture" ? await getPicture(library, place.document_id) : null;
  const hasQuote = place.end > place.start;
  const rectangles = (pdf || picture) && hasQuote ? await getRectangles(library, place.document_id, place) : [];
  return { place, document, pdf, picture, rectangles, quoted: pdf ? await getQuoted(pdf, rectangles) : {} };
};

/** Load a place: the document with everything its view needs, or the problem. */
const useSource = (library, place) => {
  const [found, setFound] = useState({});
  useEffect(() => {
    let isWanted = true;
    load(library, place).then(
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

const View = ({ document, pdf, picture, rectangles, quoted, place }) => {
  const { content, offsets, parts, type } = document;
  if (pdf)
    return html`<${PdfView}
      key=${document.document_id}
      pdf=${pdf}
      rectangles=${rectangles}
      quoted=${quoted}
      starts=${startsOf(parts)}
    />`;
  if (picture)
    return html`<${PictureView}
      key=${document.document_id}
      picture=${picture}
      text=${content}
      rectangles=${rectangles}
    />`;
  const target = { start: offsets.toUnits(place.start), end: offsets.toUnits(place.end) };
  return html`<${VIEWS[type] ?? TextView}
    key=${document.document_id}
    content=${content}
    parts=${parts}
    target=${target}
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

const Head = ({ place, places, at, onStep, onClose }) => {
  const texts = useTexts();
  const { t } = texts;
  const site = siteOf(place);
  return html`
    <header class="panel-head">
      <div class="panel-title">
        <h2>${nameOf(place)}</h2>
        <p class="muted">
          ${placeOf(place, texts)}
          ${
            site &&
            html`<a href=${site} target="_blank" rel="noopener noreferrer">${t("openSite")}<${Icon} name="open" /></a>`
          }
          ${isFile(place) && nameOf(place) !== place.source && html`<span class="panel-file">${place.source}</span>`}
        </p>
      </div>
      <${Steps} places=${places} at=${at} onStep=${onStep} />
      <${IconButton} icon="close" label=${t("closeSource")} onClick=${onClose} />
    </header>
  `;
};

/** The panel. Arrows step through `places`; `at` is the one shown. */
export const SourcePanel = ({ library, places, at, onStep, onClose, onAskAbout }) => {
  const { t } = useTexts();
  const [panel, body] = [useRef(null), useRef(null)];
  const place = places[at];
  const found = useSource(library, place);
  const isShown = found.place === place && Boolean(found.document);
  useEffect(() => panel.current.focus({ preventScroll: true }), []);
  useEffect(() => {
    if (isShown) body.current.querySelector("mark, .pdf-quote")?.scrollIntoView({ block: "center" });
  }, [isShown, place]);
  const step = (event) => {
    // Up and down scroll.
    if (!STEPS[event.key] || places.length < 2 || event.altKey) return;
    event.preventDefault();
    onStep(STEPS[event.key]);
  };
  return html`
    <aside class="panel" ref=${panel} tabindex="-1" aria-label=${t("source")} data-shown=${isShown} onKeyDown=${step}>
      <${Head} place=${place} places=${places} at=${at} onStep=${onStep} onClose=${onClose} />
      <div class="panel-body" ref=${body} tabindex="0" role="region" aria-label=${nameOf(place)}>
        ${found.problem && html`<${Trouble} problem=${found.problem} />`}
        ${!found.problem && !found.document && html`<${Working}>${t("opening")}<//>`}
        ${found.document && html`<${Player} library=${library} document=${found.document} place=${found.place} />`}
        ${found.document && html`<${View} ...${found} />`}
        ${found.document && html`<${SelectionButton} within=${body} document=${found.document} onAsk=${onAskAbout} />`}
      </div>
    </aside>
  `;
};
