/** Compare the library with its files and its index, and repair it. */

import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

/** The section; `jobs` are the library's, latest first. */
export const Checking = ({ jobs, start }) => {
  const { t, moment } = useTexts();
  const last = jobs.find(({ result }) => result);
  const verify = (repair) => start("verify", { repair }, []);
  const { findings = [], repaired = [] } = last?.result ?? {};
  const canRepair = findings.some(({ repair }) => repair);
  return html`
    <h2>${t("check")}</h2>
    ${
      last &&
      html`
        <p role="status">
          <span class="muted">${moment(last.ended * 1000)} · </span>
          ${repaired.length > 0 && `${t("repaired", { n: repaired.length })} `}
          ${findings.length ? t("differs", { n: findings.length }) : t("clean")}
        </p>
        <ul class="job-errors">
          ${findings.map(
            ({ kind, name }) => html`<li><strong>${name}</strong> ${t(`found_${kind.split(" ").at(-1)}`)}</li>`,
          )}
        </ul>
      `
    }
    <div class="section-foot">
      <button type="button" class="plain-button" onClick=${() => verify(false)}>${t("check")}</button>
      ${
        canRepair &&
        html`<button type="button" class="plain-button" onClick=${() => verify(true)}>${t("repair")}</button>`
      }
    </div>
  `;
};
