/** The library view: documents, failures of adding, and charts of chats. */

import { of, request } from "../api/api.js";
import { Checking } from "./checking.js";
import { ConfirmButton } from "./confirm.js";
import { Following } from "./following.js";
import { JobErrors, named } from "./job_cards.js";
import { hasErrors } from "./jobs.js";
import { Shelf } from "./shelf.js";
import { fileOf, nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { Timeline } from "./timeline.js";
import { html, Icon, useCallback, useEffect, useState } from "../ui.js";

const languageNames = (languages, { languageName, number }) =>
  Object.entries(languages)
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${languageName(code)} ${number(count)}`)
    .join(", ");

const load = async (library, mayChange) => {
  const [stats, listed, jobs, followed] = await Promise.all([
    request(of(library, "stats")),
    request(`${of(library, "documents")}?limit=10000`),
    mayChange ? request(of(library, "jobs")) : { jobs: [] },
    mayChange && request(of(library, "sources")),
  ]);
  return { stats, documents: listed.documents, jobs: jobs.jobs, followed };
};

const Figures = ({ stats, followed }) => {
  const texts = useTexts();
  const { t, number, megabytes } = texts;
  const stored = followed && followed.library_bytes !== null;
  const rows = [
    [t("documents"), number(stats.documents)],
    [t("passagesTitle"), number(stats.chunks)],
    [t("characters"), number(stats.characters)],
    ...(stored ? [[t("storage"), megabytes(followed.library_bytes + followed.upload_bytes)]] : []),
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

const Row = ({ found, onOpen, onDelete }) => {
  const { t, number, languageName } = useTexts();
  const name = nameOf(found);
  const where = [found.date, fileOf(found)].filter(Boolean).join(" · ");
  return html`
    <tr>
      <th scope="row">
        <button type="button" class="link document-name" onClick=${onOpen}>${name}</button>
        ${name !== found.source && html`<span class="muted document-source">${where}</span>`}
      </th>
      <td><span class="kind">${t(`kind_${found.type}`)}</span></td>
      <td>${languageName(found.language)}</td>
      <td class="figure">${number(found.chunks)}</td>
      <td class="actions">
        <a
          class="link"
          href=${`#document=${encodeURIComponent(found.document_id)}`}
          aria-label=${t("detailsOf", { name })}
          >${t("details")}</a
        >
        ${
          onDelete &&
          html`<${ConfirmButton}
            label=${t("deleteNamed", { name })}
            what=${t("delete")}
            now=${t("deleteNow")}
            onConfirm=${onDelete}
          />`
        }
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

/** Failures of what is followed are shown there. */
const Failures = ({ jobs, followed }) => {
  const { t, moment } = useTexts();
  const origins = followed ? followed.sources.flatMap(({ origin, options }) => [origin, options.address]) : [];
  const isElsewhere = ({ kind, sources }) => kind !== "add" || origins.includes(sources[0]);
  const failed = jobs.filter((job) => hasErrors(job) && (job.error || !isElsewhere(job)));
  if (!failed.length) return null;
  return html`
    <h2>${t("errors")}</h2>
    <ul class="failures">
      ${failed.map(
        (job) =>
          html`<li>
            <p class="muted"><${Icon} name="warning" />${moment(job.made * 1000)} · ${named(job, t)}</p>
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

/**
 * The view. `entry` is the library as it is listed; `changes` grows with every change; `add` is the button to add, if
 * allowed; `start` starts a job.
 */
export const LibraryPage = ({ entry, mayChange, changes, onOpen, onChange, onProblem, onLibraries, add, start }) => {
  const library = entry.name;
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
        <h1>${entry.together ? t("allLibraries") : entry.title === library ? t("library") : entry.title}</h1>
        ${add}
      </div>
      ${mayChange && html`<${Shelf} entry=${entry} onLibraries=${onLibraries} />`}
      ${
        found &&
        html`
          <${Figures} ...${found} />
          ${
            found.followed &&
            html`<${Following} ...${{ library, start, onChange, onProblem }} found=${found.followed} />`
          }
          ${
            found.documents.length
              ? html`<h2>${t("documents")}</h2>
                  <${Documents} documents=${found.documents} onOpen=${open} onDelete=${mayChange && remove} />`
              : html`<p class="muted">${t("nothingYet")}</p>`
          }
          <${Failures} ...${found} />
          ${mayChange && html`<${Checking} jobs=${found.jobs} start=${start} />`}
          <${Chats} library=${library} documents=${found.documents} />
        `
      }
    </div>
  `;
};
