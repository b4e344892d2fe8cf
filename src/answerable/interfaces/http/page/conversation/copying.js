/** An answer as plain text for the clipboard, with its citations. */

import { nameOf, placeOf, siteOf } from "../texts/places.js";
import { withoutHidden } from "./exporting.js";

const citationOf = (found, index, { answer, texts }) => {
  const place = [nameOf(found), placeOf(found, texts)].filter(Boolean).join(", ");
  // An answer without a model has the quotes in its text.
  const quote = answer.model ? `“${found.quote}”` : "";
  return [`[${index + 1}] ${place}`, ...[quote, siteOf(found)].filter(Boolean).map((line) => `    ${line}`)].join("\n");
};

/** The answer's text, and a line for each citation. */
export const answerAsText = (answer, texts) =>
  withoutHidden(
    [answer.text.trim(), answer.citations.map((found, at) => citationOf(found, at, { answer, texts })).join("\n")]
      .filter(Boolean)
      .join("\n\n"),
  );

/** Copy a text. Rejects if the browser refuses. */
export const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without HTTPS there is no clipboard on other machines.
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  if (!isCopied) throw new DOMException("not copied", "NotAllowedError");
};
