/** A chat of the library with its charts. */

import { of, request } from "../api/api.js";
import { Trouble } from "../status.js";
import { html, lazily, useState } from "../ui.js";

const ChatCharts = lazily(() => import("../overview/charts.js").then((found) => found.ChatCharts));

/** A chat; its statistics are fetched when it is opened. */
export const Timeline = ({ library, chat, isFirst }) => {
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
      ${statistics && html`<${ChatCharts} statistics=${statistics} />`}
    </details>
  `;
};
