/** The page of a document: its summary, outline and tables, the charts of a chat, and a box to ask only this one. */

import { of, request } from "../api/api.js";
import { ChatCharts } from "./charts.js";
import { TableView } from "./table.js";
import { fileOf, isFile, leftOutOf, nameOf, placeOf, siteOf } from "../texts/places.js";
import { Trouble, Working } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

const LONGEST = 4_000;
// A longer outline is closed at first.
const FEW = 60;
const DEEPEST = 4;

const facts = (found, { t, languageName }) =>
  [
    t(`kind_${found.type}`),
    found.language && languageName(found.language),
    found.pages > 0 && t("pagesOf", { n: found.pages }),
    t("passages", { n: found.chunks }),
  ]
    .filter(Boolean)
    .join(" · ");

const Head = ({ found, open, onDelete }) => {
  const texts = useTexts();
  const { t } = texts;
  const [name, site] = [nameOf(found), siteOf(found)];
  return html`
    <a class="link back" href="#library"><${Icon} name="back" />${t("library")}</a>
    <h1>${name}</h1>
    <p class="muted">${facts(found, texts)}</p>
    ${found.left_out.length > 0 && html`<p class="muted left-out">${leftOutOf(found, t)}</p>`}
    ${isFile(found) && name !== found.source && html`<p class="muted document-source">${fileOf(found)}</p>`}
    <div class="document-actions">
      <button type="button" class="plain-button" onClick=${open({ start: 0, end: 0 })}>
        <${Icon} name="book" />${t("openDocument")}
      </button>
      ${
        site &&
        html`<a class="plain-button" href=${site} target="_blank" rel="noopener noreferrer">
          <${Icon} name="open" />${t("openSite")}
        </a>`
      }
      ${
        onDelete &&
        html`<button type="button" class="plain-button danger" onClick=${() => onDelete(found)}>${t("delete")}</button>`
      }
    </div>
  `;
};

const AskBox = ({ found, onAsk }) => {
  const { t } = useTexts();
  const [question, setQuestion] = useState("");
  const ask = (event) => {
    event.preventDefault();
    if (question.trim()) onAsk(question.trim(), found);
  };
  return html`
    <form class="ask-only" onSubmit=${ask}>
      <label for="ask-only">${t("askOnly")}</label>
      <div class="field-row">
        <input
          id="ask-only"
          autocomplete="off"
          maxlength=${LONGEST}
          value=${question}
          onInput=${(event) => setQuestion(event.currentTarget.value)}
        />
        <button type="submit" class="send" aria-label=${t("ask")} title=${t("ask")} disabled=${!question.trim()}>
          <${Icon} name="ask" />
        </button>
      </div>
    </form>
  `;
};

/** The sentences of the summary; each opens the document at its place. */
const Extracts = ({ extracts, onOpen }) => {
  const texts = useTexts();
  return html`
    <ul class="extracts">
      ${extracts.map(
        (found) => html`
          <li>
            <button type="button" class="extract" onClick=${(event) => onOpen(found, extracts, event.currentTarget)}>
              <q>${found.quote}</q>
              <span>${placeOf(found, texts)}</span>
            </button>
          </li>
        `,
      )}
    </ul>
  `;
};

const Outline = ({ found, open }) => {
  const { t } = useTexts();
  return html`
    <ol class="outline">
      ${found.outline.map(
        (heading) => html`
          <li data-level=${Math.min(heading.level, DEEPEST)}>
            <button type="button" class="link" onClick=${open(heading)}>${heading.title}</button>
            ${heading.page && html`<span class="muted">${t("onPage", { n: heading.page })}</span>`}
          </li>
        `,
      )}
    </ol>
  `;
};

/**
 * The page; `onOpen(place, places, from)` opens the source, `onAsk(question, document)` asks this document, and
 * `onDelete(document)` is missing if the reader may not delete it.
 */
export const DocumentPage = ({ library, id, changes, onOpen, onAsk, onDelete }) => {
  const { t } = useTexts();
  const [{ found, problem }, setState] = useState({});
  useEffect(() => {
    let isWanted = true;
    request(of(library, "documents", id, "overview")).then(
      (loaded) => isWanted && setState({ found: loaded }),
      (failure) => isWanted && setState({ problem: failure }),
    );
    return () => (isWanted = false);
  }, [library, id, changes]);
  if (problem) return html`<div class="document-page"><${Trouble} problem=${problem} /></div>`;
  if (found?.document_id !== id) return html`<div class="document-page"><${Working}>${t("opening")}<//></div>`;
  const placed = (place) => ({ document_id: id, source: found.source, title: found.title, type: found.type, ...place });
  const open = (place) => (event) => onOpen(placed(place), undefined, event.currentTarget);
  return html`
    <div class="document-page" data-loaded="true">
      <${Head} ...${{ found, open, onDelete }} />
      <${AskBox} found=${found} onAsk=${onAsk} />
      ${
        found.extracts.length > 0 &&
        html`<h2>${t("summary")}</h2>
          <${Extracts} extracts=${found.extracts} onOpen=${onOpen} />`
      }
      ${
        found.outline.length > 0 &&
        html`<details class="folded" open=${found.outline.length <= FEW}>
          <summary><h2>${t("outline")}</h2></summary>
          <${Outline} found=${found} open=${open} />
        </details>`
      }
      ${found.statistics && html`<h2>${t("messagesTitle")}</h2><${ChatCharts} statistics=${found.statistics} />`}
      ${found.tables.length > 0 && html`<h2>${t("tables")}</h2>`}
      ${found.tables.map((table) => html`<${TableView} key=${table.start} table=${table} open=${open} />`)}
    </div>
  `;
};
