/** Why an answer came out as it did: its steps, the checks of its sentences, and the passages. */

import { nameOf, placesOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

const Row = ({ name, children }) =>
  html`<div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>`;

// Facts whose values have names of their own.
const NAMED = ["none", "gate", "verdict"];

const percent = (share, places = 0) => (share > 0 && share < 0.01 ? "< 1 %" : `${(100 * share).toFixed(places)} %`);

const wordOf = (t, name) => t(`why_${name.replace(/\W/g, "_")}`);

/** Why the best sentence doesn't answer, with its chance and the one needed; nothing if none was weighed. */
const Refused = ({ answer }) => {
  const { t } = useTexts();
  const decided = (answer.why ?? []).findLast((step) => step.name === "decide");
  const { confidence, threshold } = decided?.values ?? {};
  // A near answer says itself how the sentence differs.
  if (answer.answered || threshold === undefined || confidence >= threshold) return null;
  const { text } = decided.chose;
  // Rounded alike, the chance would look like the one needed.
  const places = percent(confidence) === percent(threshold) ? 1 : 0;
  const share = percent(confidence, places);
  return html`<p>${t("refusedUnlikely", { text, share, least: percent(threshold, places) })}</p>`;
};

/** A step: what it was given, what it chose, and by which values, without texts that the step before told. */
const Step = ({ step, told }) => {
  const { t } = useTexts();
  const named = (name) => wordOf(t, name);
  const said = (name, value) => {
    if (name === "by") return named(`by ${value}`);
    if (NAMED.includes(name)) return value.split(", ").map(named).join(", ");
    if (name === "confidence")
      return percent(value) + (threshold === undefined ? "" : ` (${named("at least")} ${percent(threshold)})`);
    return Number.isFinite(value) && !Number.isInteger(value) ? value.toFixed(3) : value;
  };
  const { reason, message, threshold, ...facts } = { ...step.given, ...step.chose, ...step.values };
  const shown = message === facts.question ? facts : { message, ...facts };
  return html`
    <${Row} name=${named(step.name)}>
      ${Object.entries(shown)
        .filter(([name, value]) => value !== undefined && !(typeof value === "string" && told?.[name] === value))
        .map(([name, value]) => html`<div><span class="muted">${named(name)}</span> ${said(name, value)}</div>`)}
    <//>
  `;
};

const Passages = ({ passages, openAt }) => {
  const texts = useTexts();
  const { t } = texts;
  const open = (passage) => (event) => openAt(passage, passages, event.currentTarget);
  return html`
    <table class="passages">
      <caption>
        ${t("passagesFound", { n: passages.length })}
      </caption>
      <thead>
        <tr>
          <th scope="col">${t("passage")}</th>
          <th scope="col" class="figure">${t("meaning")}</th>
          <th scope="col" class="figure">${t("words")}</th>
          <th scope="col" class="figure">${t("score")}</th>
        </tr>
      </thead>
      <tbody>
        ${passages.map(
          (passage) => html`
            <tr>
              <td>
                <button type="button" class="link" onClick=${open(passage)}>${nameOf(passage)}</button>
                <span class="muted"> ${placesOf(passage, texts)}</span>
              </td>
              <td class="figure">${passage.meaning_rank ?? "–"}</td>
              <td class="figure">${passage.keyword_rank ?? "–"}</td>
              <td class="figure">${passage.score.toFixed(3)}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
};

const Checks = ({ checks }) => {
  const { t } = useTexts();
  return html`
    <h3>${t("checks")}</h3>
    <ol class="checks">
      ${checks.map(
        ({ text, support, how }) =>
          html`<li data-support=${support}>${text} <small>${wordOf(t, support)} · ${how}</small></li>`,
      )}
    </ol>
  `;
};

/** The details of an answer, under `label`. */
export const Trace = ({ answer, openAt, label }) => {
  const { t, seconds } = useTexts();
  return html`
    <details class="trace">
      <summary>${label}</summary>
      <${Refused} answer=${answer} />
      <dl>
        ${(answer.why ?? []).map((step, at, all) => html`<${Step} step=${step} told=${all[at - 1]?.chose} />`)}
        <${Row} name=${t("took")}>${seconds(answer.timings.total ?? 0)}<//>
      </dl>
      ${answer.checks?.length > 0 && html`<${Checks} checks=${answer.checks} />`}
      ${answer.passages.length > 0 && html`<${Passages} passages=${answer.passages} openAt=${openAt} />`}
    </details>
  `;
};
