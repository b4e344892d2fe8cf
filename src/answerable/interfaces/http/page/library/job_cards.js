/** Cards with the progress and failures of jobs. */

import { hasErrors, isRunning } from "./jobs.js";
import { isLocked, PasswordForm } from "./password.js";
import { isWeb, leftOutOf, nameOf } from "../texts/places.js";
import { problemText } from "../texts/problems.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton } from "../ui.js";

// Documents read in part that a card names; each document's page says it, too.
const MOST_PARTLY = 5;
// More failures are folded, so that the page below the card is still seen.
const FEW = 3;

/** The name of a job: what it does if that isn't adding, its first source, and the number of others. */
export const named = ({ kind, sources }, t) => {
  const what = kind === "verify" ? t("check") : kind === "sync" ? t("sync") : "";
  const names = sources.length > 1 ? t("andMore", { name: sources[0], n: sources.length - 1 }) : sources[0];
  return [what, names].filter(Boolean).join(": ");
};

/** The finished fraction, 0 to 1; undefined if unknown. Of several files each counts alike, as their number does. */
const partDone = ({ state, sent, progress }) => {
  if (state === "sending") return sent;
  const { document_done: read, document_total: length, sources_done: files, sources_total: all } = progress ?? {};
  if (all > 1) return Math.min(1, (files + (length && read / length)) / all);
  return progress?.chunks_total ? progress.chunks_done / progress.chunks_total : undefined;
};

/** `7 of 23 · Reading letter.pdf`; the number only where there are several. Vectors are made once all files are read. */
const readingNow = ({ source, sources_done: files, sources_total: all }, t) => {
  const reading = t(all ? "reading" : "readingMeaning", { name: isWeb(source) ? source : nameOf({ source }) });
  return all > 1 ? `${t("fileOf", { n: Math.min(files + 1, all), all })} · ${reading}` : reading;
};

const said = ({ state, progress, report, result }, t) => {
  if (state === "running" && progress?.source) return readingNow(progress, t);
  if (state !== "done") return t(`job_${state}`);
  if (result) return result.findings.length ? t("differs", { n: result.findings.length }) : t("clean");
  if (report.added + report.changed)
    return t("jobAdded", { n: report.added + report.changed, passages: t("passages", { n: report.chunks }) });
  return t(report.failed.length ? "job_failed" : "jobUnchanged");
};

/**
 * The failures by file, and what of the first files wasn't read; folded if there are many failures. The job's name above
 * isn't repeated. Each PDF can be sent again with its password.
 */
export const JobErrors = ({ job }) => {
  const { t } = useTexts();
  const { failed = [], partly = [] } = job.report ?? {};
  const all = [...failed, ...(job.error ? [{ code: job.error.code }] : [])];
  if (!all.length && !partly.length) return null;
  const name = (source) => source && source !== named(job, t) && html`<strong>${source}</strong> `;
  const failure = (each) => {
    const isAsked = job.retry && isLocked(each);
    const why = isAsked ? t(job.hadPassword ? "wrongPassword" : "locked") : problemText({ ...each, message: each.error }, t);
    return html`
      <li key=${each.source}>
        ${name(each.source)}${why}
        ${isAsked && html`<${PasswordForm} onPassword=${(typed) => job.retry(job, each.source, typed)} />`}
      </li>
    `;
  };
  const list = html`
    <ul class="job-errors">
      ${all.map(failure)}
      ${partly.slice(0, MOST_PARTLY).map((each) => html`<li class="muted">${name(each.source)}${leftOutOf(each, t)}</li>`)}
    </ul>
  `;
  if (all.length < 2) return list;
  return html`
    <details class="job-problems" open=${all.length <= FEW}>
      <summary>${t("notAdded", { n: all.length })}</summary>
      ${list}
    </details>
  `;
};

const Card = ({ job, onCancel, onDismiss }) => {
  const { t } = useTexts();
  const running = isRunning(job);
  const { report, sources } = job;
  // The name would be that of a file that may be fine.
  const isPart = sources.length > 1 && report?.failed.length > 0 && report.added + report.changed > 0;
  return html`
    <li class="job" data-state=${job.state} data-errors=${hasErrors(job)}>
      <${Icon} name=${hasErrors(job) ? "warning" : running ? "add" : "done"} />
      <div class="job-text">
        ${!isPart && html`<p class="job-name">${named(job, t)}</p>`}
        <p class=${isPart ? "job-name" : "muted"}>${said(job, t)}</p>
        ${running && html`<progress max="1" value=${partDone(job)} aria-label=${t("progress")}></progress>`}
        <${JobErrors} job=${job} />
      </div>
      ${
        running
          ? html`<button type="button" class="link" onClick=${() => onCancel(job)}>${t("cancel")}</button>`
          : html`<${IconButton} icon="close" label=${t("dismiss")} onClick=${() => onDismiss(job)} />`
      }
    </li>
  `;
};

/** The watched jobs. */
export const JobCards = ({ jobs, cancel, dismiss }) => html`
  <ul class="jobs" aria-live="polite">
    ${jobs.map((job) => html`<${Card} key=${job.id} job=${job} onCancel=${cancel} onDismiss=${dismiss} />`)}
  </ul>
`;
