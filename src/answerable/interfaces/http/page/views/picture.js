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

/** A picture; `text` is what it shows, for those who don't see it, `rectangles` are those of the quote. */
export const PictureView = ({ picture, text, rectangles }) => html`
  <div class="pdf">
    <section class="pdf-page" style=${{ aspectRatio: picture.ratio }}>
      <img class="picture" src=${picture.address} alt=${text} />
      ${rectangles.map((each) => html`<div class="pdf-quote" style=${boxOf(each)}></div>`)}
    </section>
  </div>
`;
