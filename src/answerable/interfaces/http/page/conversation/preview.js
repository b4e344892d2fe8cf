/** A citation's number, and beside it the quote in its surroundings, without opening the source. */

import { of, request } from "../api/api.js";
import { nameOf, placesOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, useEffect, useRef, useState } from "../ui.js";

// Characters shown before and after a quote: about two lines each.
const AROUND = 160;
// A pointer on its way elsewhere opens nothing; as in the style sheet.
const PAUSE = 300;

/** The text before, in and after a quote, from the passages that it is in. */
const surroundings = async (library, { document_id: id, start, end, quote }) => {
  const { passages } = await request(`${of(library, "documents", id, "passages")}?start=${start}&end=${end}`);
  const passage = passages.find((each) => each.start <= start && each.end >= end);
  if (!passage) return { before: "", quote, after: "" };
  // Places are in characters, a JavaScript string has two units for some.
  const letters = [...passage.content];
  const [from, to] = [start - passage.start, end - passage.start];
  const first = Math.max(0, from - AROUND);
  const last = Math.min(letters.length, to + AROUND);
  const text = (one, other) => letters.slice(one, other).join("");
  return {
    before: (first ? "…" : "") + text(first, from),
    quote: text(from, to),
    after: text(to, last) + (last < letters.length ? "…" : ""),
  };
};

/** The quote in its surroundings after a `pause`; `onOpen` is what a button in it does, if there is one. */
const Preview = ({ library, found, pause, onOpen }) => {
  const texts = useTexts();
  const [around, setAround] = useState(null);
  useEffect(() => {
    let isWanted = true;
    const load = () =>
      surroundings(library, found).then(
        (loaded) => isWanted && setAround(loaded),
        // The quote is known without it.
        () => isWanted && setAround({ before: "", quote: found.quote, after: "" }),
      );
    const timer = setTimeout(load, pause);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, []);
  if (!around) return null;
  return html`
    <span class="preview" role="note">
      <span class="preview-head"><strong>${nameOf(found)}</strong> <small>${placesOf(found, texts)}</small></span>
      <span class="preview-text" data-flows=${Boolean(found.pages)}>${around.before}<mark>${around.quote}</mark>${around.after}</span>
      ${onOpen && html`<button type="button" class="plain-button" onClick=${onOpen}>${texts.t("openSource")}</button>`}
    </span>
  `;
};

const label = (number, found, texts) => {
  const place = placesOf(found, texts);
  return texts.t("sourceNumber", { n: number, name: place ? `${nameOf(found)}, ${place}` : nameOf(found) });
};

/**
 * The number of a citation. Pointing at it shows the quote, and pressing it opens the source; a finger, which can't point,
 * shows the quote by a first tap and opens the source by a second.
 */
export const Chip = ({ library, number, found, isOpen, onOpen }) => {
  const texts = useTexts();
  const [chip, whole] = [useRef(null), useRef(null)];
  // How the quote was asked for: `pointed` or `tapped`; empty if it isn't shown.
  const [shown, setShown] = useState("");
  const finger = useRef(false);
  const hide = () => setShown("");
  useEffect(() => {
    if (shown !== "tapped") return undefined;
    const look = ({ target }) => whole.current.contains(target) || hide();
    document.addEventListener("pointerdown", look);
    return () => document.removeEventListener("pointerdown", look);
  }, [shown]);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !shown) return;
    // The source stays open.
    event.stopPropagation();
    hide();
  };
  const open = () => {
    hide();
    onOpen(chip.current);
  };
  const press = () => {
    const isFirstTap = finger.current && shown !== "tapped" && !isOpen;
    finger.current = false;
    if (isFirstTap) setShown("tapped");
    else open();
  };
  return html`
    <span
      class="cited"
      ref=${whole}
      onPointerEnter=${(event) => event.pointerType === "mouse" && setShown("pointed")}
      onPointerLeave=${(event) => event.pointerType === "mouse" && hide()}
      onFocusOut=${(event) => whole.current?.contains(event.relatedTarget) || hide()}
      onKeyDown=${onKeyDown}
    >
      <button
        type="button"
        class="chip"
        ref=${chip}
        data-citation=${number}
        aria-pressed=${isOpen}
        aria-label=${label(number, found, texts)}
        onFocus=${(event) => event.currentTarget.matches(":focus-visible") && setShown("pointed")}
        onPointerDown=${(event) => (finger.current = event.pointerType === "touch")}
        onClick=${press}
      >
        ${number}
      </button>
      ${
        shown &&
        !isOpen &&
        html`<${Preview}
          ...${{ library, found }}
          pause=${shown === "tapped" ? 0 : PAUSE}
          onOpen=${shown === "tapped" && open}
        />`
      }
    </span>
  `;
};
