/** Pieces of a document's text with offsets, to mark quotes exactly and locate selections. */

import { html } from "../ui.js";

/** A run: `{start, end, kind}` in UTF-16 units; `kind` is a class of the styles, or empty. */
export const run = (start, end, kind = "") => ({ start, end, kind });

/** Whether two spans overlap. */
export const touches = (span, target) => span.start < target.end && span.end > target.start;

const covers = (outer, { start, end }) => Boolean(outer) && outer.start <= start && outer.end >= end;

/** How a piece is marked: as part of the quote, of the words in it that answer, or of another quote. */
const markOf = (piece, { answer, also = [], ...quote }) => {
  if (covers(quote, piece)) return covers(answer, piece) ? "answering" : "quote";
  return also.some((other) => covers(other, piece)) ? "also" : "";
};

/** Cut a run where marks begin and end. */
const cut = (whole, target) => {
  const marks = [target, target.answer, ...(target.also ?? [])].filter((mark) => mark && touches(mark, whole));
  const edges = marks.flatMap(({ start, end }) => [start, end]).filter((at) => at > whole.start && at < whole.end);
  const bounds = [whole.start, ...[...new Set(edges)].sort((one, other) => one - other), whole.end];
  return bounds.slice(1).map((end, index) => run(bounds[index], end, whole.kind));
};

/**
 * Show runs of a text, and mark the target: a span in units with, if known, the `answer` in it and `also`, the other
 * quotes.
 */
export const Runs = ({ content, runs, target }) =>
  runs
    .filter(({ start, end }) => start < end)
    .flatMap((each) => cut(each, target))
    .map((piece) => {
      const text = content.slice(piece.start, piece.end);
      const mark = markOf(piece, target);
      return mark
        ? html`<mark class=${`${piece.kind} ${mark}`.trim()} data-start=${piece.start}>${text}</mark>`
        : html`<span class=${piece.kind} data-start=${piece.start}>${text}</span>`;
    });

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
