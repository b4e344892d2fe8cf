/** What the library follows, what couldn't be read and why, and when it is synced. */

import { of, request } from "../api/api.js";
import { ConfirmButton } from "./confirm.js";
import { FolderDialog, lastStep } from "./folders.js";
import { isLocked, PasswordForm } from "./password.js";
import { problemText } from "../texts/problems.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useState } from "../ui.js";

const INTERVALS = [0, 3600, 21600, 86400, 604800];

/** The failures of a source by file, each with its reason. One password is asked for all PDFs. */
const Unread = ({ origin, report, onSync }) => {
  const { t } = useTexts();
  const inside = (source) => (source.startsWith(origin) ? source.slice(origin.length + 1) : source);
  const said = (each) => (isLocked(each) ? t("locked") : problemText({ ...each, message: each.error }, t));
  return html`
    <details open>
      <summary><${Icon} name="warning" />${t("unread", { n: report.failures })}</summary>
      <ul class="job-errors">
        ${report.failed.map((each) => html`<li><strong>${inside(each.source)}</strong> ${said(each)}</li>`)}
      </ul>
      ${
        report.failed.some(isLocked)
          ? html`<${PasswordForm} onPassword=${onSync} />`
          : html`<button type="button" class="link" onClick=${() => onSync()}>${t("retry")}</button>`
      }
    </details>
  `;
};

const Source = ({ found, onSync, onUnfollow }) => {
  const { t, moment } = useTexts();
  const { origin, report, documents, visited } = found;
  const name = origin.includes("://") ? origin : lastStep(origin);
  const label = (what) => `${t(what)}: ${name}`;
  return html`
    <li class="followed">
      <p><strong>${name}</strong></p>
      ${name !== origin && html`<p class="muted">${origin}</p>`}
      <p class="muted">
        ${t("synced", { documents: t("inDocuments", { n: documents }), when: moment(visited) })}
      </p>
      ${report?.failures > 0 && html`<${Unread} ...${{ origin, report, onSync }} />`}
      <p class="followed-actions">
        <button type="button" class="link" aria-label=${label("sync")} onClick=${() => onSync()}>${t("sync")}</button>
        <${ConfirmButton}
          label=${label("unfollow")}
          what=${t("unfollow")}
          now=${t("unfollowNow")}
          onConfirm=${onUnfollow}
        />
      </p>
    </li>
  `;
};

/** The section. `found` is what the server lists, `start` starts a job, `onChange` loads everything again. */
export const Following = ({ library, found, start, onChange, onProblem }) => {
  const { t, number } = useTexts();
  const [isChoosing, setChoosing] = useState(false);
  const sync = (origins, password = "") => start("sync", { origins, password }, origins);
  const change = (path, options) => request(path, options).then(onChange, onProblem);
  const setEvery = (event) => change(of(library), { method: "PATCH", body: { every: +event.currentTarget.value } });
  const unfollow = (origin) =>
    change(`${of(library, "sources")}?origin=${encodeURIComponent(origin)}`, { method: "DELETE" });
  const follow = (path) => {
    setChoosing(false);
    start("sources", { path }, [path]);
  };
  const intervals = [...new Set([...INTERVALS, found.every])];
  return html`
    <h2>${t("followed")}</h2>
    ${!found.sources.length && html`<p class="muted">${t("notFollowed")}</p>`}
    <ul>
      ${found.sources.map(
        (each) => html`
          <${Source}
            key=${each.origin}
            found=${each}
            onSync=${(password) => sync([each.origin], password)}
            onUnfollow=${() => unfollow(each.origin)}
          />
        `,
      )}
    </ul>
    <div class="section-foot">
      ${
        found.may_follow_folders &&
        html`<button type="button" class="plain-button" onClick=${() => setChoosing(true)}>
          <${Icon} name="add" />${t("addFolder")}
        </button>`
      }
      ${
        found.sources.length > 0 &&
        html`<button type="button" class="plain-button" onClick=${() => sync([])}>${t("syncAll")}</button>
          <label
            >${t("schedule")}
            <select value=${found.every} onChange=${setEvery}>
              ${intervals.map(
                (each) =>
                  html`<option value=${each} selected=${each === found.every}>
                    ${INTERVALS.includes(each) ? t(`every_${each}`) : `${number(each / 3600)} h`}
                  </option>`,
              )}
            </select>
          </label>`
      }
    </div>
    ${isChoosing && html`<${FolderDialog} ...${{ library }} onFolder=${follow} onClose=${() => setChoosing(false)} />`}
  `;
};
