/** Where the checked sentences of a model's answer are in its text. */

// Control characters and direction marks, which are never shown.
export const HIDDEN = /[\0-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/** The marks that readers see, best first. */
export const MARKS = ["verified", "check", "unsupported"];

const PREFIX = /^\s*(?:(?:[-*+•·‣–—]|\d{1,3}[.)]|[a-z]\)|#{1,6}|>)[ \t]+){0,6}(?:\[[ xX]\][ \t]+)?/;

/** A sentence as a block of Markdown has it: without list markers, a table's row with single spaces. */
const asShown = (text) => {
  const words = text.replace(HIDDEN, "").replace(PREFIX, "");
  return words.startsWith("|") ? words.replace(/[ \t]*\|[ \t]*/g, " | ").trim() : words;
};

/** A function that finds sentences in one text after another: `{ start, end, check }`. Nothing is said between them. */
export const finder = (checks, wordsOf = asShown) => {
  let next = 0;
  return (text) => {
    const found = [];
    let done = 0;
    for (let at = next; at < checks.length; at += 1) {
      const words = wordsOf(checks[at].text);
      const start = words ? text.indexOf(words, done) : -1;
      if (start < 0 || /[\p{L}\p{N}]/u.test(text.slice(done, start))) continue;
      done = start + words.length;
      next = at + 1;
      found.push({ start, end: done, check: checks[at] });
    }
    return found;
  };
};

/** An answer's text with a sign after each sentence that isn't verified. */
export const signed = ({ text, checks = [] }, { t }) => {
  const pieces = [];
  let done = 0;
  for (const { end, check } of finder(checks, (words) => words)(text)) {
    if (MARKS.indexOf(check.support) < 1) continue;
    pieces.push(text.slice(done, end), ` ${t(`sign_${check.support}`)}`);
    done = end;
  }
  return [...pieces, text.slice(done)].join("");
};
