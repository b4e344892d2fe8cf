/** Filters of the search, as chips above the question: documents, types, people, days and languages. */

import { of, request } from "../api/api.js";
import { Sources, titleOf, useDocuments } from "./sources.js";
import { useTexts } from "../texts/texts.js";
import { html, Icon, IconButton, useEffect, useRef, useState } from "../ui.js";

// A filter's fields, as the API calls them, with the names of their texts.
const FIELDS = { source: "document", type: "kind", sender: "person", date: "dates", language: "language" };
// More are found by typing.
const SHOWN = 40;
const FEW = 8;

/** The filter without a field, or without one value of it. */
export const without = (where, field, value) => {
  const { [field]: old, ...rest } = where;
  const left = value === undefined ? [] : [old].flat().filter((each) => each !== value);
  return left.length ? { ...rest, [field]: left } : rest;
};

/** Days as people say them: `2–5 March 2024`. `before` is exclusive. */
export const period = ({ since, before }, { t, day, days }) => {
  const last = before && new Date(before).getTime() - 1;
  if (!before) return t("sinceDay", { day: day(since) });
  return since ? days(since, last) : t("untilDay", { day: day(last) });
};

// A day without a time would be read as one in London.
const moment = (day, time) => (day?.length === 10 ? `${day}T${time}` : day);

/** A value of a filter as people say it. */
export const labelOf = (field, value, texts) => {
  if (field === "source") return titleOf(value);
  if (field === "type") return texts.t(`kind_${value}`);
  if (field === "language") return texts.languageName(value);
  if (field === "date")
    return period({ since: moment(value.gte, "00:00"), before: value.lt ?? moment(value.lte, "23:59") }, texts);
  // Other programs ask with filters that this page doesn't make.
  return FIELDS[field] ? value : texts.t("otherFilter");
};

/** The fields and values of a filter. */
export const entriesOf = (where) =>
  Object.entries(where ?? {}).flatMap(([field, values]) =>
    (field in FIELDS ? [values].flat() : [values]).map((value) => [field, value]),
  );

const Days = ({ choices, where, onChange }) => {
  const { t } = useTexts();
  const date = where.date ?? {};
  const change = (bound) => (event) => {
    const { [bound]: _, ...rest } = date;
    const found = event.currentTarget.value ? { ...rest, [bound]: event.currentTarget.value } : rest;
    onChange(Object.keys(found).length ? { ...where, date: found } : without(where, "date"));
  };
  const [first, last] = [choices.first_day, choices.last_day];
  const day = (bound, name) => html`
    <label>
      ${t(name)}
      <input type="date" min=${first} max=${last} value=${date[bound] ?? ""} onChange=${change(bound)} />
    </label>
  `;
  return html`<div class="filter-days">${day("gte", "fromDay")} ${day("lte", "toDay")}</div>`;
};

const Values = ({ field, values, where, onChange }) => {
  const texts = useTexts();
  const { t } = texts;
  const [typed, setTyped] = useState("");
  const chosen = where[field] ?? [];
  const named = values.map((value) => [value, labelOf(field, value, texts)]);
  const wanted = named.filter(([value, name]) => `${name}\n${value}`.toLowerCase().includes(typed.toLowerCase()));
  const toggle = (value) =>
    chosen.includes(value) ? without(where, field, value) : { ...where, [field]: [...chosen, value] };
  return html`
    ${
      values.length > FEW &&
      html`<input
        type="search"
        aria-label=${t("findChoice")}
        placeholder=${t("findChoice")}
        value=${typed}
        onInput=${(event) => setTyped(event.currentTarget.value)}
      />`
    }
    <div class="filter-values">
      ${wanted.slice(0, SHOWN).map(
        ([value, name]) => html`
          <button
            type="button"
            key=${value}
            class="filter-value"
            aria-pressed=${chosen.includes(value)}
            onClick=${() => onChange(toggle(value))}
          >
            ${name}
          </button>
        `,
      )}
      ${wanted.length > SHOWN && html`<p class="muted">${t("typeForMore", { n: wanted.length - SHOWN })}</p>`}
    </div>
  `;
};

/** A chip that can be taken off. */
export const Chip = ({ name, onOff, children }) => {
  const { t } = useTexts();
  return html`
    <span class="filter-chip" data-on=${Boolean(onOff)}>
      ${children ?? html`<span class="filter-name">${name}</span>`}
      ${onOff && html`<${IconButton} icon="close" label=${t("takeOff", { name })} onClick=${onOff} />`}
    </span>
  `;
};

/** What the library can be filtered by. */
const useChoices = (library, changes) => {
  const [choices, setChoices] = useState(null);
  useEffect(() => {
    // Without choices there are no filters, and asking goes on.
    request(of(library, "filters")).then(setChoices, () => {});
  }, [library, changes]);
  return choices;
};

const isOffered = {
  source: ({ types }) => Object.values(types).reduce((sum, each) => sum + each, 0) > 1,
  type: ({ types }) => Object.keys(types).length > 1,
  sender: ({ people }) => people.length > 1,
  date: ({ first_day: first, last_day: last }) => first !== last,
  language: ({ languages }) => Object.keys(languages).length > 1,
};

/** The chips; `where` is the filter. Where documents are `listed` beside them, none offers these. */
export const Filters = ({ library, changes, where, onChange, listed }) => {
  const texts = useTexts();
  const { t } = texts;
  const choices = useChoices(library, changes);
  const [open, setOpen] = useState("");
  const bar = useRef(null);
  const documents = useDocuments(library, changes, open === "source" || Boolean(where.source));
  if (!choices) return null;
  const isShown = (field) => isOffered[field](choices) && !(listed && field === "source");
  const offered = Object.keys(FIELDS).filter((field) => field in where || isShown(field));
  const valuesOf = {
    type: Object.keys(choices.types),
    sender: choices.people,
    language: Object.keys(choices.languages),
  };
  const button = (field) => bar.current.querySelector(`[data-field=${field}]`);
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || !open) return;
    // The open source stays.
    event.stopPropagation();
    button(open).focus();
    setOpen("");
  };
  const chip = (field) => {
    const values = entriesOf({ [field]: where[field] }).filter(([, value]) => value);
    const areMany = field === "source" && values.length > 1;
    const name = areMany
      ? [t("inDocuments", { n: values.length })]
      : [t(FIELDS[field]), values.map(([, value]) => labelOf(field, value, texts)).join(", ")];
    const off = () => {
      button(field).focus();
      onChange(without(where, field));
    };
    return html`
      <${Chip} key=${field} name=${name.join(": ")} onOff=${values.length > 0 && off}>
        <button
          type="button"
          class="filter-name"
          data-field=${field}
          aria-expanded=${open === field}
          aria-controls="filter-panel"
          onClick=${() => setOpen(open === field ? "" : field)}
        >
          <span>${name.filter(Boolean).join(": ")}</span><${Icon} name="next" />
        </button>
      <//>
    `;
  };
  return html`
    <div class="filters" ref=${bar} onKeyDown=${onKeyDown}>
      <div class="filter-panel" id="filter-panel" role="group" aria-label=${open && t(FIELDS[open])} hidden=${!open}>
        ${open === "date" && html`<${Days} choices=${choices} where=${where} onChange=${onChange} />`}
        ${open === "source" && html`<${Sources} ...${{ documents, where, onChange }} />`}
        ${
          valuesOf[open] &&
          html`<${Values} key=${open} field=${open} values=${valuesOf[open]} where=${where} onChange=${onChange} />`
        }
      </div>
      <div class="filter-bar" role="group" aria-label=${t("filters")}>${offered.map(chip)}</div>
    </div>
  `;
};
