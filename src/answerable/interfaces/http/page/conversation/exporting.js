/** Answers to take away: as Markdown, as a Word file, on paper, as a note for the library. */

import { download } from "./saving.js";
import { HIDDEN, LINE_ENDS, signed } from "./sentences.js";
import { fileOf, isFile, nameOf, placesOf, siteOf } from "../texts/places.js";

// These, and characters that would end a URL.
const UNSAFE = /[<>\\\s\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

// Escape text of documents and models, so that rendering makes no link, image, markup or HTML of it.
const asText = (text) =>
  text
    .replace(LINE_ENDS, "\n")
    .replace(HIDDEN, "")
    .replace(/^[ \t]+/gm, "")
    .replace(/[\\`*_{}<>|~]|#(?<!\S.)|&(?=#?\w+;)/g, "\\$&")
    // A mark `[1]` leads nowhere, since nothing can define it; between `$` and a digit no formula ends.
    .replace(/(?<!!)\[\d+\](?![(:])|[[\]]|\$(?!\d)/g, (found) => (found.length > 1 ? found : `\\${found}`))
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

/** The web address of a source, without characters that would hide what it is; empty if it has none. */
export const addressOf = (citation) => siteOf(citation).replace(UNSAFE, encodeURIComponent);

const linked = (name, address) => (address ? `[${name}](<${address}>)` : name);

/** A quote without the ends of a PDF's lines, except before the items of a list. */
export const quoteOf = ({ quote, pages, unit }) =>
  pages && unit !== "slide" ? quote.replace(/[ \t]*\n(?!\s*(?:[-*+•·‣–—]|\d{1,3}[.)])\s)[ \t]*(?=\S)/g, " ") : quote;

/** Where a quote is: the name of its file if it isn't the document's, and the place there. */
export const whereOf = (citation, texts) => {
  const file = isFile(citation) ? fileOf(citation).split(/[/\\]/).at(-1) : "";
  const isNamed = file.startsWith(nameOf(citation));
  return [!isNamed && file, placesOf(citation, texts)].filter(Boolean).join(", ");
};

const sourceOf = (citation, number, texts) => {
  const name = linked(asLine(nameOf(citation)), addressOf(citation));
  const said = [name, asLine(whereOf(citation, texts))].filter(Boolean).join(", ");
  return `${number}. ${said}\n\n${quoted(quoteOf(citation)).replace(/^/gm, "   ")}`;
};

/** The turns, each with the number of sources `before` its own, so that no two have the same number. */
export const numbered = (turns) => {
  let count = 0;
  return turns.map((turn) => {
    const before = count;
    count += turn.answer?.citations.length ?? 0;
    return { ...turn, before };
  });
};

/** A text whose marks of citations count on from those `before`. */
const marked = (text, citations, before) =>
  text.replace(/\[(\d{1,3})\]/g, (mark, number) => (citations[number - 1] ? `[${before + Number(number)}]` : mark));

const turnOf = ({ question, answer, asked, before }, texts, level) =>
  [
    `${level} ${asLine(question)}`,
    `*${texts.moment(asked)}*`,
    ...(answer
      ? [
          asText(marked(signed(answer, texts), answer.citations, before)),
          ...answer.citations.map((citation, index) => sourceOf(citation, before + index + 1, texts)),
        ]
      : [texts.t("noAnswer")]),
  ].join("\n\n");

/** What is above the questions: a title of the conversation's own; nothing above a single question. */
export const titleOf = (turns, texts, title) => {
  if (title && title !== turns[0]?.question) return title;
  return turns.length > 1 ? texts.t("conversation") : "";
};

/** The turns as Markdown. */
export const markdownOf = (turns, texts, title) => {
  const name = titleOf(turns, texts, title);
  const parts = numbered(turns).map((turn) => turnOf(turn, texts, name ? "##" : "#"));
  return `${[name && `# ${asLine(name)}`, ...parts].filter(Boolean).join("\n\n")}\n`;
};

const wordsOf = (text) => (text.match(/[\p{L}\p{N}]+/gu) ?? ["answerable"]).join("-").slice(0, 60);

const nameOfFile = (turns, title) => wordsOf(title || turns[0].question);

// `is_note` of the server knows notes by it: they rank below their sources.
const NOTE = "---\nanswerable: note\n---\n\n";

/** An answer as a Markdown file, named by when and what was asked: saved again, it is the same document. */
export const noteOf = (turn, texts) => {
  const asked = new Date(turn.asked);
  const local = new Date(asked - asked.getTimezoneOffset() * 60_000).toISOString();
  const time = local.slice(0, 19).replace("T", "-").replaceAll(":", "");
  return new File([NOTE, markdownOf([turn], texts)], `note-${time}-${wordsOf(turn.question)}.md`, { type: "text/markdown" });
};

/** Save answers in one of the ways. */
export const WAYS = {
  markdown: async (turns, texts, title) =>
    download(`${nameOfFile(turns, title)}.md`, new Blob([markdownOf(turns, texts, title)], { type: "text/markdown" })),
  word: async (turns, texts, title) => {
    const [{ documentOf }, { wordOf }] = await Promise.all([import("./printed.js"), import("./word.js")]);
    download(`${nameOfFile(turns, title)}.docx`, wordOf(documentOf(turns, texts, title)));
  },
  print: async (turns, texts, title) => (await import("./printed.js")).print(turns, texts, title),
};
