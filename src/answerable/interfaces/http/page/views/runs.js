/** Pieces of a document's text with offsets, to mark quotes exactly and locate selections. */

import { html } from "../ui.js";

/** A run: `{start, end, kind}` in UTF-16 units; `kind` is a class of the styles, or empty. */
export const run = (start, end, kind = "") => ({ start, end, kind });

const cut = ({ start, end, kind }, target) => {
  const from = Math.min(Math.max(target.start, start), end);
  const to = Math.max(Math.min(target.end, end), from);
  const pieces = [
    { start, end: from, kind, isQuote: false },
    { start: from, end: to, kind, isQuote: true },
    { start: to, end, kind, isQuote: false },
  ];
  return pieces.filter((piece) => piece.start < piece.end);
};

/** Show runs of a text, and mark the target, a span in units. */
export const Runs = ({ content, runs, target }) =>
  runs
    .flatMap((each) => cut(each, target))
    .map((piece) => {
      const text = content.slice(piece.start, piece.end);
      return piece.isQuote
        ? html`<mark class=${piece.kind} data-start=${piece.start}>${text}</mark>`
        : html`<span class=${piece.kind} data-start=${piece.start}>${text}</span>`;
    });

/** Whether two spans overlap. */
export const touches = (span, target) => span.start < target.end && span.end > target.start;

const offsetOf = (node, offset) => {
  const holder = node.nodeType === Node.TEXT_NODE && node.parentElement.closest("[data-start]");
  return holder && holder.firstChild === node ? Number(holder.dataset.start) + offset : null;
};

/** The span of a selected range, `{start, end}` in units, or null if its ends aren't in runs. */
export const spanOf = (range) => {
  const start = offsetOf(range.startContainer, range.startOffset);
  const end = offsetOf(range.endContainer, range.endOffset);
  return start !== null && end !== null && start < end ? { start, end } : null;
};

/** The offset of the element around a node, as a hint of its place. */
export const nearOf = (node) => {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  return Number(element.closest("[data-start]")?.dataset.start ?? 0);
};
