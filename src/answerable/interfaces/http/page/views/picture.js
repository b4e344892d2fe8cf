/** A picture with rectangles over the quote. */

import { html } from "../ui.js";

const percent = (fraction) => `${(100 * fraction).toFixed(3)}%`;

/** Convert a rectangle in fractions from the lower left corner to a style. */
const boxOf = ({ left, bottom, right, top }) => ({
  left: percent(left),
  top: percent(1 - top),
  width: percent(right - left),
  height: percent(top - bottom),
});

/**
 * A picture; `text` is what it shows, for those who don't see it, `marks` are lists of `rectangles`, each of a `kind`.
 */
export const PictureView = ({ picture, text, marks }) => html`
  <div class="pdf">
    <section class="pdf-page" style=${{ aspectRatio: picture.ratio }}>
      <img class="picture" src=${picture.address} alt=${text} />
      ${marks.map(({ rectangles, kind }) =>
        rectangles.map((each) => html`<div class=${kind} style=${boxOf(each)}></div>`),
      )}
    </section>
  </div>
`;
