/** Code with line numbers, and plain text by paragraphs. */

import { html, useMemo } from "../ui.js";
import { run, Runs, touches } from "./runs.js";
import { focusOf, Window } from "./window.js";

const split = (content, pattern) => {
  const found = [];
  let start = 0;
  for (const match of content.matchAll(pattern)) {
    const end = match.index + match[0].length;
    found.push(run(start, end));
    start = end;
  }
  if (start < content.length) found.push(run(start, content.length));
  return found;
};

/** Code. The style sheet draws the line numbers, so that they aren't copied with it. */
export const CodeView = ({ content, target }) => {
  const lines = useMemo(() => split(content, /\n/g), [content]);
  const digits = String(lines.length).length;
  const show = (line, index) => html`
    <span key=${index} class=${touches(line, target) ? "line quoted-line" : "line"} data-line=${index + 1}>
      <${Runs} content=${content} runs=${[line]} target=${target} />
    </span>
  `;
  return html`
    <pre
      class="code"
      tabindex="0"
      style=${{ "--digits": digits }}
    ><code><${Window} items=${lines} focus=${focusOf(lines, target)} show=${show} /></code></pre>
  `;
};

/** Plain text; pages of a PDF without its file are divided by a line. */
export const TextView = ({ content, target }) => {
  const paragraphs = useMemo(() => split(content, /\f|\n(?:[ \t]*\n)+/g), [content]);
  const show = (paragraph, index) => html`
    <p key=${index} class=${content[paragraph.end - 1] === "\f" ? "plain page-end" : "plain"}>
      <${Runs} content=${content} runs=${[paragraph]} target=${target} />
    </p>
  `;
  return html`<div class="text">
    <${Window} items=${paragraphs} focus=${focusOf(paragraphs, target)} show=${show} />
  </div>`;
};
