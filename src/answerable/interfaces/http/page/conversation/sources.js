/** The documents of a library, to choose those that are asked: with a search, and a sign for each type. */

import { of, request } from "../api/api.js";
import { nameOf } from "../texts/places.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, useEffect, useState } from "../ui.js";

// More are found by typing.
const SHOWN = 100;
const FEW = 8;
// A number or date at the end of a name is always seen: names often differ only in it.
const ENDING = /^(.*?)( \S{0,9}\d\S{0,3})?$/su;

const ICONS = {
  chat: "chat",
  mail: "mail",
  records: "table",
  spreadsheet: "table",
  contacts: "people",
  calendar: "day",
  html: "web",
  picture: "picture",
  recording: "sound",
  subtitles: "sound",
  code: "code",
  notebook: "code",
};

/** The sign of a document's type. */
export const TypeIcon = ({ type }) => html`<${Icon} name=${ICONS[type] ?? "page"} />`;

// Names of documents by source, as far as they have been listed; of a message with its day.
const titles = new Map();

/** The name of a document by its source. */
export const titleOf = (source) => titles.get(source) ?? nameOf({ source });

const listed = async (library) => {
  const { documents } = await request(`${of(library, "documents")}?limit=10000`);
  // What was handed over without a source is chosen by nothing.
  const named = documents.filter(({ source }) => source).map((each) => [each, [nameOf(each), each.date]]);
  for (const [{ source }, name] of named) titles.set(source, name.filter(Boolean).join(", "));
  return named.map(([{ source, type }]) => ({ source, type, name: titles.get(source) }));
};

/** The documents, `{source, type, name}`; listed when they are wanted. */
export const useDocuments = (library, changes, isWanted) => {
  const [documents, setDocuments] = useState([]);
  useEffect(() => {
    // Asking works without them.
    if (isWanted) listed(library).then(setDocuments, () => {});
  }, [library, changes, isWanted]);
  return documents;
};

/** Boxes to check; with none checked all documents are asked. `where` is the filter. */
export const Sources = ({ documents, where, onChange }) => {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const chosen = where.source ?? [];
  const wanted = documents.filter(({ name, source }) => `${name}\n${source}`.toLowerCase().includes(typed.toLowerCase()));
  const choose = (sources) => {
    const { source: _, ...rest } = where;
    onChange(sources.length ? { ...rest, source: sources } : rest);
  };
  const toggle = (source) =>
    choose(chosen.includes(source) ? chosen.filter((each) => each !== source) : [...chosen, source]);
  return html`
    <div class="asked">
      <p class="asked-count muted" role="status">
        ${t(chosen.length ? "askedSome" : "askedAll", { n: documents.length, chosen: chosen.length })}
        ${chosen.length > 0 && html`<button type="button" class="link" onClick=${() => choose([])}>${t("askAll")}</button>`}
      </p>
      ${
        documents.length > FEW &&
        html`<input
          type="search"
          class="asked-search"
          aria-label=${t("findChoice")}
          placeholder=${t("findChoice")}
          value=${typed}
          onInput=${(event) => setTyped(event.currentTarget.value)}
        />`
      }
      <ul class="asked-list" tabindex="0" aria-label=${t("document")}>
        ${wanted.slice(0, SHOWN).map(({ source, type, name }) => {
          const [, start, end] = ENDING.exec(name);
          return html`
            <li key=${source}>
              <label title=${name}>
                <input type="checkbox" checked=${chosen.includes(source)} onChange=${() => toggle(source)} />
                <${TypeIcon} type=${type} /><span class="asked-name"><span>${start}</span>${end}</span>
              </label>
            </li>
          `;
        })}
        ${wanted.length > SHOWN && html`<li class="muted">${t("typeForMore", { n: wanted.length - SHOWN })}</li>`}
      </ul>
    </div>
  `;
};
