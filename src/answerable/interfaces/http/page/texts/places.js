/** Where a quote stands, in the reader's language. */

const range = ([first, last], one, several, t) => (first === last ? t(one, { n: first }) : t(several, { first, last }));

const moments = ([first, last], { moment }) => (first === last ? moment(first) : `${moment(first)} – ${moment(last)}`);

const SENDERS = 3;

const people = (senders) => senders.slice(0, SENDERS).join(", ") + (senders.length > SENDERS ? ", …" : "");

/** The place in a few words, as `page 3 · Setup` or `5 Mar 2024, 21:15 · Ana`; empty where nothing is known of it. */
export const placeOf = (found, texts) => {
  const { t } = texts;
  const steps = [];
  if (found.pages) steps.push(range(found.pages, "onPage", "onPages", t));
  if (found.times) steps.push(moments(found.times, texts));
  if (found.senders?.length) steps.push(people(found.senders));
  // Under the title itself, the title says nothing more.
  const heading = found.headings?.at(-1) === found.title ? undefined : found.headings?.at(-1);
  if (heading) steps.push(heading);
  if (found.symbol) steps.push(found.symbol);
  const knowsBetter = found.pages || found.times || (heading && !found.symbol);
  if (found.lines && !knowsBetter) steps.push(range(found.lines, "onLine", "onLines", t));
  return steps.join(" · ");
};

/** What to call a document: its title, or the last step of where it comes from. */
export const nameOf = (found) => found.title || found.source.split(/[/\\]/).filter(Boolean).at(-1) || found.source;

/** A link out of the page to where a document came from, if that is a site; any other kind of link is none. */
export const siteOf = (found) => {
  const address = found.link || found.source;
  return /^https?:\/\//i.test(address) ? address : "";
};
