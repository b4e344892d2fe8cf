/** Documents for the panel, fetched once, with convertible offsets. */

import { authorization, bytes, of, Problem, request } from "./api.js";
import { isFile, nameOf } from "../texts/places.js";
import { Offsets } from "../views/offsets.js";
import { openPdf } from "../views/pdf.js";

/** Cache a function's last results, except failures; `drop` disposes of a result. */
const remembering = (limit, load, drop = () => {}) => {
  const remembered = new Map();
  return (library, id) => {
    const key = `${library}/${id}`;
    const found = remembered.get(key) ?? load(library, id);
    remembered.delete(key);
    remembered.set(key, found);
    found.catch(() => remembered.delete(key));
    if (remembered.size > limit) {
      const [oldest, dropped] = remembered.entries().next().value;
      remembered.delete(oldest);
      dropped.then(drop, () => {});
    }
    return found;
  };
};

const inUnits = (offsets, part) => ({
  ...part,
  start: offsets.toUnits(part.start),
  end: offsets.toUnits(part.end),
  ...(part.body !== undefined && { body: offsets.toUnits(part.body) }),
});

/** Get a document with its content, its parts in UTF-16 units, and `offsets`. Throws Problem. */
export const getDocument = remembering(8, async (library, id) => {
  const found = await request(of(library, "documents", id));
  const offsets = new Offsets(found.content);
  return { ...found, offsets, parts: found.parts.map((part) => inUnits(offsets, part)) };
});

const opened = async (library, id) => {
  try {
    return await openPdf(of(library, "documents", id, "file"), authorization());
  } catch (error) {
    // pdf.js gives the status of the response; without one the file isn't a PDF that it can open.
    if (error.status && error.status !== 404) throw new Problem(error.status, "", "");
    return null;
  }
};

/** Open a document's original PDF; null if there is only its text. Throws Problem. */
export const getPdf = remembering(3, opened, (pdf) => pdf?.document.loadingTask.destroy());

/** Get the size of each page of a PDF, `{width, height}` in points; empty if its file is gone. */
export const getPages = remembering(8, (library, id) =>
  request(of(library, "documents", id, "pages")).then(
    (found) => found.pages,
    () => [],
  ),
);

/** The address of a document's original picture in memory; null if there is only its text. Throws Problem. */
const shown = async (library, id) => {
  try {
    const address = URL.createObjectURL(new Blob([await bytes(of(library, "documents", id, "file"))]));
    const image = new Image();
    image.src = address;
    // Browsers can't show some formats, such as TIFF.
    await image.decode();
    return { address, ratio: `${image.naturalWidth} / ${image.naturalHeight}` };
  } catch (error) {
    if (error instanceof Problem && error.status !== 404) throw error;
    return null;
  }
};

/** Get a document's original picture. Throws Problem. */
export const getPicture = remembering(8, shown, (picture) => picture && URL.revokeObjectURL(picture.address));

/**
 * Get a document's original file, `{name, data}`: for one in an archive, the archive; without a file, its text. Throws
 * Problem.
 */
export const getOriginal = async (library, place) => {
  const name = nameOf({ source: place.source.split("!/")[0] });
  try {
    if (isFile(place)) return { name, data: await bytes(of(library, "documents", place.document_id, "file")) };
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  const { content } = await getDocument(library, place.document_id);
  return { name: `${nameOf(place).replace(/\.txt$/i, "")}.txt`, data: new TextEncoder().encode(content) };
};

/** Get the recording in which the text from `start`, in code points, is said, as a blob. Throws Problem. */
export const getRecording = async (library, id, start) =>
  new Blob([await bytes(`${of(library, "documents", id, "recording")}?start=${start}`)]);

/** Get the rectangles of a span, in code points, on a picture or the pages of a PDF. Throws Problem. */
export const getRectangles = async (library, id, { start, end }) =>
  (await request(`${of(library, "documents", id, "rectangles")}?start=${start}&end=${end}`)).rectangles;
