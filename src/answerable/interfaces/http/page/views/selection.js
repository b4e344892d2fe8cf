/** A button beside selected text of a source: ask about this. */

import { locate } from "./offsets.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";
import { nearOf, spanOf } from "./runs.js";

const LONGEST = 20_000;

const selectedIn = (element) => {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const text = selection.toString().trim().slice(0, LONGEST);
  return text && element.contains(range.commonAncestorContainer) ? { range, text } : null;
};

/** The selected text as a hint for a question, with its place if known. */
const hintOf = ({ range, text }, { document_id, content, offsets }) => {
  const span = spanOf(range) ?? locate(content, text, nearOf(range.startContainer));
  return {
    text,
    span: span && { document_id, start: offsets.toPoints(span.start), end: offsets.toPoints(span.end) },
  };
};

/** The button, shown while text inside the element is selected. */
export const SelectionButton = ({ within, document: source, onAsk }) => {
  const { t } = useTexts();
  const [selected, setSelected] = useState(null);
  useEffect(() => {
    const look = () => setSelected(selectedIn(within.current));
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, []);
  if (!selected) return null;
  const box = selected.range.getBoundingClientRect();
  const around = within.current.getBoundingClientRect();
  const top = Math.min(Math.max(box.top - 44, around.top + 8), around.bottom - 44);
  const left = Math.min(Math.max(box.left + box.width / 2, around.left + 90), around.right - 90);
  const ask = () => {
    onAsk(hintOf(selected, source));
    getSelection().removeAllRanges();
  };
  // Pressing must not end the selection before the click.
  return html`
    <button
      type="button"
      class="ask-about"
      style=${{ top: `${top}px`, left: `${left}px` }}
      onPointerDown=${(event) => event.preventDefault()}
      onClick=${ask}
    >
      <${Icon} name="quote" />${t("askAbout")}
    </button>
  `;
};
