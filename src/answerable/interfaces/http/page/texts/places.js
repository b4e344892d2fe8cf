/** Names and places of sources in the reader's language. */

const range = ([first, last], one, several, t) => (first === last ? t(one, { n: first }) : t(several, { first, last }));

const moments = ([first, last], { moment }) => (first === last ? moment(first) : `${moment(first)} – ${moment(last)}`);

const SENDERS = 3;

const people = (senders) => senders.slice(0, SENDERS).join(", ") + (senders.length > SENDERS ? ", …" : "");

const UNITS = { page: ["onPage", "onPages"], slide: ["onSlide", "onSlides"], cell: ["onCell", "onCells"] };

/** A time in a recording: `0:42` or `1:02:03`. */
export const clock = (seconds) => {
  const [hours, minutes, rest] = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
};

/** A short place, such as `page 3 · Setup` or `5 Mar 2024, 21:15 · Ana`; empty if unknown. */
export const placeOf = (found, texts) => {
  const { t } = texts;
  const steps = [];
  if (found.pages) steps.push(range(found.pages, ...UNITS[found.unit ?? "page"], t));
  if (found.times) steps.push(moments(found.times, texts));
  if (found.senders?.length) steps.push(people(found.senders));
  if (found.place) return [...steps, found.place].join(" · ");
  if (found.seconds) steps.push([...new Set(found.seconds.map(clock))].join(" – "));
  // Don't repeat the title.
  const heading = found.headings?.at(-1) === found.title ? undefined : found.headings?.at(-1);
  if (heading) steps.push(heading);
  if (found.symbol) steps.push(found.symbol);
  const knowsBetter = found.pages || found.times || found.seconds || (heading && !found.symbol);
  if (found.lines && !knowsBetter) steps.push(range(found.lines, "onLine", "onLines", t));
  return steps.join(" · ");
};

/** The number of other places that have the same text, in words; empty for none. */
export const otherPlacesOf = ({ other_places: n }, { t }) => (n ? t("otherPlaces", { n }) : "");

/** A short place, and the number of others that have the same text. */
export const placesOf = (found, texts) =>
  [placeOf(found, texts), otherPlacesOf(found, texts)].filter(Boolean).join(" · ");

/** The name of a document: its title, or the last step of its source. */
export const nameOf = (found) => found.title || found.source.split(/[/\\]/).filter(Boolean).at(-1) || found.source;

/** Whether an address is one of the web. */
export const isWeb = (address) => /^https?:\/\//i.test(address);

/** The link to a document's web page, for a saved page the address it was saved from; empty for other sources. */
export const siteOf = (found) => [found.link, found.source, found.web_address].find((each) => each && isWeb(each)) || "";

/** Where a document's file is: of a message in a mailbox the mailbox, since the rest is the message's id. */
export const fileOf = ({ source, type }) => (type === "mail" ? source.split("!/")[0] : source);

/** Whether a document is a file, also if it was saved from the web. */
export const isFile = (found) => !isWeb(found.source);

const MOST_NAMES = 5;

/** What of a document's file wasn't read: "Not read: 2 pages without text (3, 7), 4 pictures". */
export const leftOutOf = ({ left_out: leftOut }, t) => {
  const said = ({ kind, count, names }) => {
    const listed = [...names.slice(0, MOST_NAMES), ...(count > MOST_NAMES ? ["…"] : [])].join(", ");
    return t(`left_${kind}`, { n: count }) + (names.length ? ` (${listed})` : "");
  };
  return t("notRead", { what: leftOut.map(said).join(", ") });
};
