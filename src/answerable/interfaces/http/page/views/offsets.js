/** Convert offsets between the API's code points and JavaScript's UTF-16 units. */

/** Count the smaller ones of ascending numbers. */
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

/** Converts the offsets of one text. */
export class Offsets {
  #wideUnits;
  #widePoints;

  constructor(text) {
    // Only characters of two units shift offsets, and most texts have few.
    this.#wideUnits = Array.from(text.matchAll(/[\u{10000}-\u{10FFFF}]/gu), (match) => match.index);
    this.#widePoints = this.#wideUnits.map((unit, number) => unit - number);
  }

  /** Convert code points to units. */
  toUnits(point) {
    return point + countBelow(this.#widePoints, point);
  }

  /** Convert units to code points. */
  toPoints(unit) {
    return unit - countBelow(this.#wideUnits, unit);
  }
}

/** Find a text in another, ignoring white space, nearest to an offset: `{start, end}` in units, or null. */
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
