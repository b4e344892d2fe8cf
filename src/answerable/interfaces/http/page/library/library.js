/** The library view: documents, failures of adding, and charts of chats. */

import { of, request } from "../api/api.js";
import { Checking } from "./checking.js";
import { Documents } from "./documents.js";
import { Following } from "./following.js";
import { JobErrors, named } from "./job_cards.js";
import { hasErrors } from "./jobs.js";
import { useRemoval } from "./removing.js";
import { Shelf } from "./shelf.js";
import { useTexts } from "../texts/texts.js";
import { Timeline } from "./timeline.js";
import { html, Icon, useEffect, useState } from "../ui.js";

const load = async (library, mayChange) => {
  const [stats, listed, jobs, followed] = await Promise.all([
    request(of(library, "stats")),
    request(`${of(library, "documents")}?limit=10000`),
    mayChange ? request(of(library, "jobs")) : { jobs: [] },
    mayChange && request(of(library, "sources")),
  ]);
  return { stats, documents: listed.documents, jobs: jobs.jobs, followed };
};

/** How many documents the library holds, their size and their languages, in a line. */
const Holdings = ({ stats, followed, hidden }) => {
  const { t, megabytes, languageName } = useTexts();
  const stored = followed && followed.library_bytes !== null;
  const languages = Object.entries(stats.languages)
    .filter(([code]) => code)
    .sort(([, one], [, other]) => other - one)
    .map(([code]) => languageName(code));
  const said = [
    t("inDocuments", { n: stats.documents - hidden }),
    stored && megabytes(followed.library_bytes + followed.upload_bytes),
    languages.join(", "),
  ];
  return html`<p class="muted">${said.filter(Boolean).join(" · ")}</p>`;
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

const Empty = ({ mayChange, add }) => {
  const { t } = useTexts();
  return html`
    <div class="empty">
      <${Icon} name="book" />
      <p><strong>${t("nothingYet")}</strong></p>
      <p class="muted">${t(mayChange ? "nothingYetAdd" : "nothingYetAsk")}</p>
      ${add}
    </div>
  `;
};

/**
 * The view. `entry` is the library as it is listed; `changes` grows with every change; `add` is the button to add, if
 * allowed; `start` starts a job; `onAsk(documents)` asks only these; `openId` is the document in the panel; `unwanted`
 * refers to documents that were deleted elsewhere, which are removed here.
 */
export const LibraryPage = ({
  entry,
  mayChange,
  changes,
  openId,
  unwanted,
  onOpen,
  onAsk,
  onChange,
  onProblem,
  onLibraries,
  add,
  start,
}) => {
  const library = entry.name;
  const { t } = useTexts();
  const [found, setFound] = useState(null);
  useEffect(() => {
    load(library, mayChange).then(setFound, onProblem);
  }, [library, mayChange, changes]);
  const open = (document, event) => onOpen({ ...document, start: 0, end: 0 }, undefined, event.currentTarget);
  const removed = (gone) => {
    const ids = new Set(gone.map(({ document_id: id }) => id));
    setFound((all) => ({ ...all, documents: all.documents.filter(({ document_id: id }) => !ids.has(id)) }));
    onChange();
  };
  const removal = useRemoval(library, removed, onProblem, unwanted);
  const documents = found?.documents.filter((each) => !removal.isHidden(each));
  return html`
    <div class="library" data-loaded=${Boolean(found)}>
      <div class="library-head">
        <h1>${entry.together ? t("allLibraries") : entry.title === library ? t("library") : entry.title}</h1>
        ${found?.documents.length > 0 && add}
      </div>
      ${mayChange && html`<${Shelf} ...${{ entry, onLibraries }} actions=${["newLibrary", "rename"]} />`}
      ${
        found &&
        html`
          ${
            found.documents.length
              ? html`<${Holdings} ...${found} hidden=${found.documents.length - documents.length} />
                  <h2 class="heard">${t("documents")}</h2>
                  <${Documents} ...${{ documents, openId, onAsk }} onOpen=${open} removal=${mayChange && removal} />`
              : html`<${Empty} ...${{ mayChange, add }} />`
          }
          <${Failures} ...${found} />
          ${
            found.followed &&
            html`<${Following} ...${{ library, start, onChange, onProblem }} found=${found.followed} />`
          }
          ${mayChange && html`<${Checking} jobs=${found.jobs} start=${start} />`}
          <${Chats} ...${{ library, documents }} />
          ${mayChange && html`<div class="library-end"><${Shelf} ...${{ entry, onLibraries }} actions=${["remove"]} /></div>`}
        `
      }
    </div>
  `;
};
