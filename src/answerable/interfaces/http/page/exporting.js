/** The conversation as a Markdown file. */

import { nameOf, placeOf } from "./places.js";

const quoted = (text) =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

// What documents and models say stays text where Markdown is rendered.
const asText = (text) => text.replace(/[\\`*_<>#]/g, "\\$&");

const sourceOf = (citation, index, texts) => {
  const name = [nameOf(citation), placeOf(citation, texts)].filter(Boolean).map(asText).join(", ");
  return `${index + 1}. ${name}\n\n${quoted(asText(citation.quote)).replace(/^/gm, "   ")}`;
};

const turnOf = ({ question, answer, asked }, texts) =>
  [
    `## ${asText(question)}`,
    `*${texts.moment(asked)}*`,
    ...(answer
      ? [asText(answer.text), ...answer.citations.map((citation, index) => sourceOf(citation, index, texts))]
      : [texts.t("noAnswer")]),
  ].join("\n\n");

/** The turns as Markdown. */
export const markdownOf = (turns, texts) =>
  `# ${texts.t("conversation")}\n\n${turns.map((turn) => turnOf(turn, texts)).join("\n\n")}\n`;

/** Gives the reader a text as a file. */
export const download = (name, text) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
