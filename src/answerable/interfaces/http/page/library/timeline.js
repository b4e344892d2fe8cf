/** A chart of a chat: messages per month and per person. */

import { of, request } from "../api/api.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

const HEIGHT = 72;
const STEP = 10;
const BAR = 8;

const DAY = 86_400_000;
// A chat of fewer months is charted by day.
const FEWEST_MONTHS = 4;
const FEWEST_BARS = 24;

const monthAt = (index) =>
  `${String(Math.floor(index / 12)).padStart(4, "0")}-${String((index % 12) + 1).padStart(2, "0")}`;
const indexOf = (day) => 12 * Number(day.slice(0, 4)) + Number(day.slice(5, 7)) - 1;
const dayAt = (time) => new Date(time).toISOString().slice(0, 10);

/** All months from first to last, or all days of a short chat. */
const periods = ({ first, last }) => {
  const [from, to] = [indexOf(first), indexOf(last)];
  if (to - from + 1 >= FEWEST_MONTHS) return Array.from({ length: to - from + 1 }, (_, step) => monthAt(from + step));
  const [begin, end] = [Date.parse(first.slice(0, 10)), Date.parse(last.slice(0, 10))];
  return Array.from({ length: (end - begin) / DAY + 1 }, (_, step) => dayAt(begin + step * DAY));
};

const counted = (statistics) => {
  const counts = new Map(periods(statistics).map((period) => [period, 0]));
  const length = counts.keys().next().value.length;
  for (const [day, count] of Object.entries(statistics.by_day)) {
    const period = day.slice(0, length);
    counts.set(period, counts.get(period) + count);
  }
  return [...counts];
};

const Bars = ({ statistics }) => {
  const { t, monthOrDay } = useTexts();
  const all = counted(statistics).map(([period, count]) => [monthOrDay(period), count]);
  const most = Math.max(...all.map(([, count]) => count));
  const bars = all.map(([period, count], index) => {
    const height = count ? Math.max(2, (HEIGHT * count) / most) : 0;
    return html`
      <rect x=${index * STEP + (STEP - BAR) / 2} y=${HEIGHT - height} width=${BAR} height=${height}>
        <title>${t("messagesIn", { n: count, period })}</title>
      </rect>
    `;
  });
  return html`
    <figure class="bars">
      <svg
        viewBox=${`0 0 ${Math.max(all.length, FEWEST_BARS) * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label=${t("busiest", { period: all.find(([, count]) => count === most)[0], n: most })}
      >
        ${bars}
      </svg>
      <figcaption><span>${all[0][0]}</span>${all.length > 1 && html`<span>${all.at(-1)[0]}</span>`}</figcaption>
    </figure>
  `;
};

const People = ({ statistics }) => {
  const { t, number } = useTexts();
  const people = Object.entries(statistics.by_sender);
  const most = people[0][1];
  return html`
    <table class="people">
      <caption class="hidden">
        ${t("perPerson")}
      </caption>
      ${people.map(
        ([person, count]) => html`
          <tr>
            <th scope="row">${person}</th>
            <td class="bar"><span style=${{ width: `${(100 * count) / most}%` }}></span></td>
            <td class="figure">${number(count)}</td>
          </tr>
        `,
      )}
    </table>
  `;
};

/** A chat of the library; its statistics are fetched when it is opened. */
export const Timeline = ({ library, chat, isFirst }) => {
  const { t, day } = useTexts();
  const [found, setFound] = useState({});
  const load = (event) => {
    if (!event.currentTarget.open || found.statistics) return;
    request(of(library, "documents", chat.document_id)).then(setFound, (problem) => setFound({ problem }));
  };
  const { statistics, problem } = found;
  return html`
    <details class="timeline" open=${isFirst} onToggle=${load}>
      <summary>${chat.title || chat.source}</summary>
      ${problem && html`<${Trouble} problem=${problem} />`}
      ${
        statistics &&
        html`
          <p class="muted">
            ${t("messages", { n: statistics.messages })} · ${day(statistics.first)} – ${day(statistics.last)}
          </p>
          <${Bars} statistics=${statistics} />
          <${People} statistics=${statistics} />
        `
      }
    </details>
  `;
};
