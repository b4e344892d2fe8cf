/** Offsets in code points, as the API counts, and in the UTF-16 units of JavaScript's strings. */

/** How many of these ascending numbers are smaller. */
const countBelow = (numbers, limit) => {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Translates the offsets of one text. */
export class Offsets {
  #wideUnits;
  #widePoints;

  constructor(text) {
    // Only characters that take two units shift anything, and most texts have few.
    this.#wideUnits = Array.from(text.matchAll(/[\u{10000}-\u{10FFFF}]/gu), (match) => match.index);
    this.#widePoints = this.#wideUnits.map((unit, number) => unit - number);
  }

  /** The offset in units of one in code points. */
  toUnits(point) {
    return point + countBelow(this.#widePoints, point);
  }

  /** The offset in code points of one in units. */
  toPoints(unit) {
    return unit - countBelow(this.#wideUnits, unit);
  }
}

/** Where a text stands in another whatever its white space, nearest to an offset: `{start, end}` in units, or null. */
export const locate = (content, text, near) => {
  const words = text.split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+"), "g");
  let best = null;
  for (const match of content.matchAll(pattern)) {
    if (best && Math.abs(match.index - near) >= Math.abs(best.start - near)) break;
    best = { start: match.index, end: match.index + match[0].length };
  }
  return best;
};
