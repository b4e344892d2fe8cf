/** What the search of a question was narrowed to: chips that can be taken off, which asks again without them. */

import { Chip, entriesOf, labelOf, period, without } from "./filters.js";
import { useTexts } from "../texts/texts.js";
import { html } from "../ui.js";

const onlyMessages = { type: ["chat", "mail"] };

const dateOf = ({ since, before }) => ({ ...(since && { gte: since }), ...(before && { lt: before }) });

/** What a question narrowed itself to as a filter, without these people or without its days. */
const restOf = ({ senders, periods }, off) => {
  const people = senders.filter((each) => each !== off);
  const dates = off === "days" ? [] : periods.map(dateOf);
  if (!people.length && !dates.length) return {};
  return {
    ...onlyMessages,
    ...(people.length && { sender: people }),
    ...(dates.length === 1 && { date: dates[0] }),
    ...(dates.length > 1 && { or: dates.map((date) => ({ date })) }),
  };
};

/** Whether a question was searched in a part of the library only. */
export const isNarrowed = ({ where, answer }) =>
  entriesOf(where ?? answer?.where).length > 0 || Boolean(answer?.narrowing?.applied);

/** The chips of a turn; `again(turn, how)` asks it again. */
export const Narrowed = ({ turn, again }) => {
  const texts = useTexts();
  const { t } = texts;
  const where = turn.where ?? turn.answer?.where ?? {};
  const found = turn.answer?.narrowing;
  const said = found && [...found.senders, ...found.periods.map((each) => period(each, texts))].join(", ");
  if (found && !found.applied && !entriesOf(where).length)
    return html`<p class="muted narrowed">${t("narrowedInVain", { to: said })}</p>`;
  if (!isNarrowed(turn)) return null;
  const own = found?.applied ? found : { senders: [], periods: [] };
  const days = own.periods.map((each) => period(each, texts)).join(", ");
  const unnarrowed = (off) => again(turn, { where: { ...restOf(own, off), ...where }, narrow: false });
  const unfiltered = (field, value) => {
    const rest = without(where, field, value);
    again(turn, { where: rest, narrow: turn.narrow, next: rest });
  };
  return html`
    <p class="narrowed">
      <span class="muted">${t("searchedOnly")}</span>
      ${entriesOf(where).map(
        ([field, value]) => html`
          <${Chip} name=${labelOf(field, value, texts)} onOff=${turn.answer && (() => unfiltered(field, value))} />
        `,
      )}
      ${own.senders.map((name) => html`<${Chip} name=${name} onOff=${() => unnarrowed(name)} />`)}
      ${days && html`<${Chip} name=${days} onOff=${() => unnarrowed("days")} />`}
    </p>
  `;
};
