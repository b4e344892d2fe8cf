/** A Word file of an element's headings, paragraphs, lists, tables and quotes. */

import { zipOf } from "./zip.js";

const TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml";
const SCHEMAS = "http://schemas.openxmlformats.org";
const RELATIONS = `${SCHEMAS}/officeDocument/2006/relationships`;
const WORDS = `xmlns:w="${SCHEMAS}/wordprocessingml/2006/main"`;
// Twentieths of a point.
const INDENT = 360;

// By what Word calls them, in the order that it asks for.
const LOOKS = [
  ["CODE", '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>'],
  ["STRONG", "<w:b/>"],
  ["EM", "<w:i/>"],
  ["DEL", "<w:strike/>"],
];
const STYLES = { H1: "Title", H2: "Heading1", BLOCKQUOTE: "Quote", "printed-source": "Source", "figure-line": "Figure" };
const BLOCKS = /^(?:H\d|P|DIV|UL|OL|LI|BLOCKQUOTE|PRE|TABLE|HR)$/;

const escaped = (text) =>
  text
    // What XML can't have, and what is never shown.
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);

const runOf = (text, looks = []) => {
  if (!text) return "";
  const lines = escaped(text).replaceAll("\n", '</w:t><w:br/><w:t xml:space="preserve">');
  const look = LOOKS.map(([name, xml]) => (looks.includes(name) ? xml : "")).join("");
  return `<w:r><w:rPr>${look}</w:rPr><w:t xml:space="preserve">${lines}</w:t></w:r>`;
};

const runsOf = (node, looks) => {
  if (node.nodeType === Node.TEXT_NODE) return runOf(node.data, looks);
  if (node.nodeName === "BR") return "<w:r><w:br/></w:r>";
  const runs = Array.from(node.childNodes, (each) => runsOf(each, [...looks, node.nodeName])).join("");
  if (node.nodeName !== "A") return runs;
  return `<w:fldSimple w:instr="HYPERLINK &#34;${escaped(node.href)}&#34;">${runs}</w:fldSimple>`;
};

const markOf = (item) => {
  const list = item.parentNode;
  return list.nodeName === "OL" ? `${list.start + [...list.children].indexOf(item)}.` : "•";
};

const cellOf = (cell) => {
  const inside = blocksOf(cell, { looks: cell.nodeName === "TH" ? ["STRONG"] : [] });
  return `<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/></w:tcPr>${inside || "<w:p/>"}</w:tc>`;
};

const tableOf = ({ rows }) => {
  const borders = ["top", "left", "bottom", "right", "insideH", "insideV"].map(
    (side) => `<w:${side} w:val="single" w:sz="4" w:space="0" w:color="BBBBBB"/>`,
  );
  const columns = "<w:gridCol/>".repeat(rows[0].cells.length);
  const made = Array.from(rows, (row) => `<w:tr>${Array.from(row.cells, cellOf).join("")}</w:tr>`);
  const look = `<w:tblW w:w="0" w:type="auto"/><w:tblBorders>${borders.join("")}</w:tblBorders>`;
  // Tables that follow each other would be one.
  return `<w:tbl><w:tblPr>${look}</w:tblPr><w:tblGrid>${columns}</w:tblGrid>${made.join("")}</w:tbl><w:p/>`;
};

/** The paragraphs and tables inside an element that is in `depth` lists. */
const blocksOf = (element, { style = "Normal", depth = 0, looks = [] }) => {
  const made = [];
  const mark = element.nodeName === "LI" ? `${runOf(markOf(element))}<w:r><w:tab/></w:r>` : "";
  let runs = mark;
  const end = () => {
    const hanging = mark && runs.startsWith(mark) ? INDENT : 0;
    const indent = depth ? `<w:ind w:left="${depth * INDENT}" w:hanging="${hanging}"/>` : "";
    if (runs) made.push(`<w:p><w:pPr><w:pStyle w:val="${style}"/>${indent}</w:pPr>${runs}</w:p>`);
    runs = "";
  };
  for (const node of element.childNodes) {
    const { nodeName: name } = node;
    // The first paragraph of an item is beside its mark.
    if (!BLOCKS.test(name) || (name === "P" && mark && runs === mark)) {
      runs += runsOf(node, looks);
      continue;
    }
    end();
    const within = {
      style: STYLES[node.className] ?? STYLES[name] ?? style,
      depth: depth + /^[UO]L$/.test(name),
      looks,
    };
    made.push(name === "TABLE" ? tableOf(node) : blocksOf(node, within));
  }
  end();
  return made.join("");
};

const around = (before, after) => `<w:spacing w:before="${before}" w:after="${after}"/>`;

// Sizes are half points.
const LOOK_OF = {
  Normal: [around(0, 120), '<w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:cs="Calibri"/><w:sz w:val="22"/>'],
  Title: [around(0, 240), '<w:b/><w:sz w:val="40"/>'],
  Heading1: [`<w:keepNext/>${around(360, 80)}<w:outlineLvl w:val="0"/>`, '<w:b/><w:sz w:val="28"/>'],
  Figure: [around(0, 120), '<w:b/><w:sz w:val="36"/>'],
  Source: [`<w:keepNext/>${around(160, 40)}`, "<w:b/>"],
  Quote: [`${around(0, 120)}<w:ind w:left="${INDENT}"/>`, "<w:i/>"],
};

const styles = Object.entries(LOOK_OF).map(([id, [paragraph, run]]) => {
  const [kind, base] = id === "Normal" ? [' w:default="1"', ""] : ["", '<w:basedOn w:val="Normal"/>'];
  const name = id.replace("Heading1", "heading 1");
  return `<w:style w:type="paragraph" w:styleId="${id}"${kind}><w:name w:val="${name}"/>${base}<w:qFormat/><w:pPr>${paragraph}</w:pPr><w:rPr>${run}</w:rPr></w:style>`;
});

const relations = (part, target) =>
  `<Relationships xmlns="${SCHEMAS}/package/2006/relationships"><Relationship Id="r1" Type="${RELATIONS}/${part}" Target="${target}"/></Relationships>`;

const override = (name, kind) => `<Override PartName="/word/${name}.xml" ContentType="${TYPES}.${kind}+xml"/>`;

/** The Word file. */
export const wordOf = (element) =>
  zipOf(
    {
      "[Content_Types].xml": `<Types xmlns="${SCHEMAS}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${override("document", "document.main")}${override("styles", "styles")}</Types>`,
      "_rels/.rels": relations("officeDocument", "word/document.xml"),
      "word/_rels/document.xml.rels": relations("styles", "styles.xml"),
      "word/styles.xml": `<w:styles ${WORDS}>${styles.join("")}</w:styles>`,
      "word/document.xml": `<w:document ${WORDS}><w:body>${blocksOf(element, {})}<w:sectPr/></w:body></w:document>`,
    },
    `${TYPES}.document`,
  );
