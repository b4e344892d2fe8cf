/** Charts of a chat: messages over time, by hour of the day and by person. They fit any width. */

import { useTexts } from "../texts/texts.js";
import { html, useLayoutEffect, useRef, useState } from "../ui.js";

const HEIGHT = 110;
// A chat of fewer months is charted by day.
const FEWEST_MONTHS = 4;
const NARROWEST = 4;
const WIDEST = 44;
const CHARACTER = 7.5;
// The length of a period's name: a day, a month, a year.
const LENGTHS = [10, 7, 4];

const NEXT = {
  10: (date) => date.setUTCDate(date.getUTCDate() + 1),
  7: (date) => date.setUTCMonth(date.getUTCMonth() + 1, 1),
  4: (date) => date.setUTCFullYear(date.getUTCFullYear() + 1, 0, 1),
};

/** All days, months or years from first to last, by the length of their names. */
const periods = (first, last, length) => {
  const found = [];
  const date = new Date(`${first.slice(0, 10)}T00:00Z`);
  for (let name = ""; (name = date.toISOString().slice(0, length)) <= last.slice(0, length); NEXT[length](date))
    found.push(name);
  return found;
};

/** The messages of each period, of the shortest periods that fit. */
const counted = ({ first, last, by_day: days }, most) => {
  const isLong = periods(first, last, 7).length >= FEWEST_MONTHS;
  const length = LENGTHS.slice(isLong ? 1 : 0).find((each) => periods(first, last, each).length <= most) ?? 4;
  const counts = new Map(periods(first, last, length).map((period) => [period, 0]));
  for (const [day, count] of Object.entries(days)) {
    const period = day.slice(0, length);
    counts.set(period, counts.get(period) + count);
  }
  return [...counts];
};

const useWidth = () => {
  const box = useRef(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const look = () => setWidth(box.current.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    look();
    return () => observer.disconnect();
  }, []);
  return [box, width];
};

/** A chart of `[name, count, label]`; only as many labels are shown as there is room for. */
const Bars = ({ title, bars, label, width }) => {
  const { t, number } = useTexts();
  const most = Math.max(...bars.map(([, count]) => count));
  const step = Math.min(width / bars.length, WIDEST);
  const room = Math.max(...bars.map(([, , short]) => short.length)) * CHARACTER + CHARACTER;
  const every = Math.ceil(room / step);
  const bar = ([name, count], index) => {
    const height = count ? Math.max(2, (HEIGHT * count) / most) : 0;
    const gap = step > 8 ? 2 : 0.5;
    return html`
      <rect x=${index * step + gap / 2} y=${HEIGHT - height} width=${step - gap} height=${height}>
        <title>${t("messagesIn", { n: count, period: name })}</title>
      </rect>
    `;
  };
  const names = bars.flatMap(([, , short], index) =>
    index % every || (index && index * step + room > width) ? [] : [[index, short]],
  );
  return html`
    <h3>${title}</h3>
    <div class="chart" role="img" aria-label=${label(bars.find(([, count]) => count === most))}>
      <span class="chart-most" aria-hidden="true">${number(most)}</span>
      <svg width=${width} height=${HEIGHT}>${bars.map(bar)}</svg>
      <div class="chart-names" aria-hidden="true">
        ${names.map(([index, short]) => html`<span style=${{ left: `${index * step}px` }}>${short}</span>`)}
      </div>
    </div>
  `;
};

const two = (hour) => String(hour).padStart(2, "0");

const People = ({ statistics }) => {
  const { t, number } = useTexts();
  const people = Object.entries(statistics.by_sender);
  return html`
    <h3>${t("perPerson")}</h3>
    <div class="people-frame" tabindex="0" role="region" aria-label=${t("perPerson")}>
      <table class="people">
        ${people.map(
          ([person, count]) => html`
            <tr>
              <th scope="row">${person}</th>
              <td class="bar"><span style=${{ width: `${(100 * count) / people[0][1]}%` }}></span></td>
              <td class="figure">${number(count)}</td>
            </tr>
          `,
        )}
      </table>
    </div>
  `;
};

/** The charts of a chat's statistics. */
export const ChatCharts = ({ statistics }) => {
  const { t, day, monthOrDay } = useTexts();
  const [box, width] = useWidth();
  const nameOf = (period) => (period.length === 4 ? period : monthOrDay(period));
  const overTime = () =>
    counted(statistics, width / NARROWEST).map(([period, count]) => [nameOf(period), count, nameOf(period)]);
  const byHour = statistics.by_hour.map((count, hour) => [`${two(hour)}:00–${two(hour + 1)}:00`, count, two(hour)]);
  const chart = (title, bars, label) => html`
    <${Bars} title=${t(title)} bars=${bars} width=${width} label=${([period, n]) => t(label, { period, n })} />
  `;
  return html`
    <div class="bars" ref=${box}>
      <p class="muted">
        ${t("messages", { n: statistics.messages })} · ${day(statistics.first)} – ${day(statistics.last)}
      </p>
      ${
        width > 0 &&
        html`${chart("overTime", overTime(), "busiest")} ${chart("byHour", byHour, "busiestHour")}`
      }
      <${People} statistics=${statistics} />
    </div>
  `;
};
