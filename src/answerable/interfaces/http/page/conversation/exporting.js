/** The conversation as a Markdown file, an answer as a text. */

import { HIDDEN, signed } from "./sentences.js";
import { nameOf, placesOf, siteOf } from "../texts/places.js";

const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
// These, and characters that would end a URL.
const UNSAFE = /[<>\\\s\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

// Escape text of documents and models, so that rendering makes no link, image, markup or HTML of it.
const asText = (text) =>
  text
    .replace(LINE_ENDS, "\n")
    .replace(HIDDEN, "")
    .replace(/^[ \t]+/gm, "")
    .replace(/[\\`*_{}[\]<>#|~&$]/g, "\\$&")
    // Renderers turn bare URLs into links.
    .replace(/(?<=[a-z]):(?=\S)|(?<=www)\.|@/gi, "\\$&")
    // Lists, underlined headings and tables.
    .replace(/^(\d*)(?=[-+=:.)])/gm, "$1\\");

const asLine = (text) => asText(text.replace(/\s+/g, " ").trim());

const quoted = (text) =>
  asText(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

const linked = (name, address) =>
  address ? `[${name}](<${address.replace(UNSAFE, encodeURIComponent)}>)` : name;

const sourceOf = (citation, index, texts) => {
  const name = linked(asLine(nameOf(citation)), siteOf(citation));
  const place = asLine(placesOf(citation, texts));
  return `${index + 1}. ${[name, place].filter(Boolean).join(", ")}\n\n${quoted(citation.quote).replace(/^/gm, "   ")}`;
};

const turnOf = ({ question, answer, asked }, texts) =>
  [
    `## ${asLine(question)}`,
    `*${texts.moment(asked)}*`,
    ...(answer
      ? [asText(signed(answer, texts)), ...answer.citations.map((citation, index) => sourceOf(citation, index, texts))]
      : [texts.t("noAnswer")]),
  ].join("\n\n");

/** The turns as Markdown, below the conversation's title if it has one of its own. */
export const markdownOf = (turns, texts, title) => {
  const name = title && title !== turns[0]?.question ? asLine(title) : texts.t("conversation");
  return `# ${name}\n\n${turns.map((turn) => turnOf(turn, texts)).join("\n\n")}\n`;
};

/** An answer's text, and a line for each citation; quotes too, where the text is a model's. */
export const answerAsText = (answer, texts) => {
  const lines = answer.citations.map((found, at) => {
    const place = [nameOf(found), placesOf(found, texts)].filter(Boolean).join(", ");
    return [`[${at + 1}] ${place}`, answer.model && `“${found.quote}”`, siteOf(found)].filter(Boolean).join("\n    ");
  });
  const text = [signed(answer, texts).trim(), lines.join("\n")].filter(Boolean).join("\n\n");
  return text.replace(LINE_ENDS, "\n").replace(HIDDEN, "");
};

/** Save a conversation as a Markdown file, named by its title or first question. */
export const save = (turns, texts, title) => {
  const words = (title || turns[0].question).match(/[\p{L}\p{N}]+/gu) ?? ["answerable"];
  const text = markdownOf(turns, texts, title);
  download(`${words.join("-").slice(0, 60)}.md`, new Blob([text], { type: "text/markdown" }));
};

/** Save a file on the reader's disk. */
export const download = (name, blob) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
