/** The details of an answer: search, passages, checks, time and cost. */

import { period } from "./filters.js";
import { nameOf, placesOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

const Row = ({ name, children }) =>
  html`<div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>`;

const Narrowing = ({ found }) => {
  const texts = useTexts();
  const said = [...found.senders, ...found.periods.map((each) => period(each, texts))].join(", ");
  return texts.t(found.applied ? "narrowedTo" : "narrowedInVain", { to: said });
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
              <td class="figure">${passage.score.toFixed(2)}</td>
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
        ({ text, support, how }) => html`<li data-support=${support}>${text} <small>${support} · ${how}</small></li>`,
      )}
    </ol>
  `;
};

const spent = ({ input_tokens: read, output_tokens: written, cost }, t) =>
  t("tokensUsed", { read, written }) + (cost == null ? "" : ` · $${cost.toFixed(4)}`);

/** The details of an answer, under `label`. */
export const Trace = ({ answer, question, openAt, label }) => {
  const { t, seconds, percent } = useTexts();
  const { usage, timings } = answer;
  const steps = Object.entries(timings)
    .filter(([name]) => name !== "total")
    .map(([name, time]) => `${t(`step_${name}`)} ${seconds(time)}`);
  return html`
    <details class="trace">
      <summary>${label}</summary>
      <dl>
        ${answer.question !== question && html`<${Row} name=${t("searchedFor")}>${answer.question}<//>`}
        ${answer.narrowing && html`<${Row} name=${t("narrowing")}><${Narrowing} found=${answer.narrowing} /><//>`}
        <${Row} name=${t("confidence")}>${percent(answer.confidence)}<//>
        <${Row} name=${t("answerer")}>${answer.model || t("quotingOnly")}<//>
        ${usage && html`<${Row} name=${t("tokens")}>${spent(usage, t)}<//>`}
        <${Row} name=${t("took")}>
          ${`${seconds(timings.total ?? 0)} `}<span class="muted">${steps.join(" · ")}</span>
        <//>
      </dl>
      ${answer.checks?.length > 0 && html`<${Checks} checks=${answer.checks} />`}
      ${answer.passages.length > 0 && html`<${Passages} passages=${answer.passages} openAt=${openAt} />`}
    </details>
  `;
};
