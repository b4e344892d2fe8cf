/** The library view: documents, failures of adding, and charts of chats. */

import { of, request } from "../api/api.js";
import { JobErrors, named } from "./job_cards.js";
import { hasErrors } from "./jobs.js";
import { nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { Timeline } from "./timeline.js";
import { html, Icon, useCallback, useEffect, useState } from "../ui.js";

const languageNames = (languages, { language, number }) => {
  const names = new Intl.DisplayNames(language, { type: "language", fallback: "code" });
  return Object.entries(languages)
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${code ? names.of(code) : "–"} ${number(count)}`)
    .join(", ");
};

const load = async (library, mayChange) => {
  const [stats, listed, jobs] = await Promise.all([
    request(of(library, "stats")),
    request(`${of(library, "documents")}?limit=10000`),
    mayChange ? request(of(library, "jobs")) : { jobs: [] },
  ]);
  return { stats, documents: listed.documents, jobs: jobs.jobs };
};

const Figures = ({ stats }) => {
  const texts = useTexts();
  const { t, number } = texts;
  const rows = [
    [t("documents"), number(stats.documents)],
    [t("passagesTitle"), number(stats.chunks)],
    [t("characters"), number(stats.characters)],
    [t("languages"), languageNames(stats.languages, texts)],
  ];
  return html`
    <dl class="figures">
      ${rows.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value || "–"}</dd>
          </div>`,
      )}
    </dl>
  `;
};

const DeleteButton = ({ name, onDelete }) => {
  const { t } = useTexts();
  const [isAsked, setAsked] = useState(false);
  if (!isAsked)
    return html`<button
      type="button"
      class="link"
      aria-label=${t("deleteNamed", { name })}
      onClick=${() => setAsked(true)}
    >
      ${t("delete")}
    </button>`;
  return html`
    <span class="confirm">
      <button type="button" class="link danger" onClick=${onDelete}>${t("deleteNow")}</button>
      <button type="button" class="link" onClick=${() => setAsked(false)}>${t("keepIt")}</button>
    </span>
  `;
};

const Row = ({ found, onOpen, onDelete }) => {
  const { t, number } = useTexts();
  const name = nameOf(found);
  return html`
    <tr>
      <th scope="row">
        <button type="button" class="link document-name" onClick=${onOpen}>${name}</button>
        ${name !== found.source && html`<span class="muted document-source">${found.source}</span>`}
      </th>
      <td><span class="kind">${t(`kind_${found.type}`)}</span></td>
      <td>${found.language || "–"}</td>
      <td class="figure">${number(found.chunks)}</td>
      <td class="actions">
        <a
          class="link"
          href=${`#document=${encodeURIComponent(found.document_id)}`}
          aria-label=${t("detailsOf", { name })}
          >${t("details")}</a
        >
        ${onDelete && html`<${DeleteButton} name=${name} onDelete=${onDelete} />`}
      </td>
    </tr>
  `;
};

const Documents = ({ documents, onOpen, onDelete }) => {
  const { t } = useTexts();
  const [wanted, setWanted] = useState("");
  const matches = ({ title, source }) => `${title}\n${source}`.toLowerCase().includes(wanted.toLowerCase());
  return html`
    <input
      class="filter"
      type="search"
      aria-label=${t("filter")}
      placeholder=${t("filter")}
      value=${wanted}
      onInput=${(event) => setWanted(event.currentTarget.value)}
    />
    <div class="table-frame" tabindex="0" role="region" aria-label=${t("documents")}>
      <table class="documents">
        <thead>
          <tr>
            <th scope="col">${t("document")}</th>
            <th scope="col">${t("kind")}</th>
            <th scope="col">${t("language")}</th>
            <th scope="col" class="figure">${t("passagesTitle")}</th>
            <th scope="col"><span class="hidden">${t("actions")}</span></th>
          </tr>
        </thead>
        <tbody>
          ${documents
            .filter(matches)
            .map(
              (found) => html`
                <${Row}
                  key=${found.document_id}
                  found=${found}
                  onOpen=${(event) => onOpen(found, event)}
                  onDelete=${onDelete && (() => onDelete(found))}
                />
              `,
            )}
        </tbody>
      </table>
    </div>
  `;
};

const Failures = ({ jobs }) => {
  const { t, moment } = useTexts();
  const failed = jobs.filter(hasErrors);
  if (!failed.length) return null;
  return html`
    <h2>${t("errors")}</h2>
    <ul class="failures">
      ${failed.map(
        (job) =>
          html`<li>
            <p class="muted"><${Icon} name="warning" />${moment(job.made * 1000)} · ${named(job.sources, t)}</p>
            <${JobErrors} job=${job} />
          </li>`,
      )}
    </ul>
  `;
};

const Chats = ({ library, documents }) => {
  const { t } = useTexts();
  const chats = documents.filter((found) => found.type === "chat");
  if (!chats.length) return null;
  return html`
    <h2>${t("chats")}</h2>
    ${chats.map(
      (chat, at) => html`<${Timeline} key=${chat.document_id} library=${library} chat=${chat} isFirst=${at === 0} />`,
    )}
  `;
};

/** The view; `changes` grows with every change of the library, `add` is the button to add, if allowed. */
export const LibraryPage = ({ library, mayChange, changes, onOpen, onChange, onProblem, add }) => {
  const { t } = useTexts();
  const [found, setFound] = useState(null);
  useEffect(() => {
    load(library, mayChange).then(setFound, onProblem);
  }, [library, mayChange, changes]);
  const open = (document, event) => onOpen({ ...document, start: 0, end: 0 }, undefined, event.currentTarget);
  const remove = useCallback(
    (document) =>
      request(of(library, "documents", document.document_id), { method: "DELETE" }).then(onChange, onProblem),
    [library],
  );
  return html`
    <div class="library" data-loaded=${Boolean(found)}>
      <div class="library-head">
        <h1>${t("library")}</h1>
        ${add}
      </div>
      ${
        found &&
        html`
          <${Figures} stats=${found.stats} />
          ${
            found.documents.length
              ? html`<h2>${t("documents")}</h2>
                  <${Documents} documents=${found.documents} onOpen=${open} onDelete=${mayChange && remove} />`
              : html`<p class="muted">${t("nothingYet")}</p>`
          }
          <${Failures} jobs=${found.jobs} />
          <${Chats} library=${library} documents=${found.documents} />
        `
      }
    </div>
  `;
};
