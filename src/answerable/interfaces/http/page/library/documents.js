/** The list of a library's documents: sorted, filtered by name, and chosen to be asked or removed. */

import { fileOf, nameOf } from "../texts/places.js";
import { TypeIcon } from "../conversation/sources.js";
import { useTexts } from "../texts/texts.js";
import { html, useMemo, useRef, useState } from "../ui.js";
import { Removed } from "./removing.js";
import { RowMenu } from "./row_menu.js";

// Rows drawn at a time: more take long to draw, and are found by their name.
const SHOWN = 200;

/** What a column shows, and what it is sorted by. */
const COLUMNS = {
  document: nameOf,
  kind: ({ type }, { t }) => t(`kind_${type}`),
  language: ({ language }, { languageName }) => languageName(language),
  passagesTitle: ({ chunks }) => chunks,
  added: ({ added = 0 }) => added,
};
const NUMBERS = ["passagesTitle", "added"];

const useSorted = (documents, { column, sign }) => {
  const texts = useTexts();
  return useMemo(() => {
    if (!column) return documents;
    const { compare } = new Intl.Collator(texts.language, { numeric: true });
    // Names and values are made once per document, not once per comparison.
    const keyed = documents.map((each) => [COLUMNS[column](each, texts), each]);
    const order = NUMBERS.includes(column) ? (one, other) => one - other : compare;
    return keyed.sort(([one], [other]) => sign * order(one, other)).map(([, each]) => each);
  }, [documents, column, sign, texts]);
};

const Heading = ({ column, sorted, onSort }) => {
  const { t } = useTexts();
  const sign = sorted.column === column ? sorted.sign : 0;
  return html`
    <th scope="col" data-column=${column} aria-sort=${{ 1: "ascending", [-1]: "descending" }[sign]}>
      <button type="button" onClick=${() => onSort({ column, sign: sign === 1 ? -1 : 1 })}>
        ${t(column)}${sign ? html` <span aria-hidden="true">${sign > 0 ? "▲" : "▼"}</span>` : ""}
      </button>
    </th>
  `;
};

const Row = ({ found, isChosen, isOpen, onChoose, onOpen, onAsk, onDelete }) => {
  const texts = useTexts();
  const { t, number, monthOrDay, shortDay } = texts;
  const [name, id] = [nameOf(found), found.document_id];
  const where = [found.date && monthOrDay(found.date), name !== found.source && fileOf(found)].filter(Boolean);
  return html`
    <tr data-selected=${isChosen || undefined} aria-current=${isOpen || undefined}>
      <td><input type="checkbox" checked=${isChosen} onChange=${onChoose} aria-label=${t("choose", { name })} /></td>
      <th scope="row">
        <span class="document-line">
          <${TypeIcon} type=${found.type} />
          <button type="button" class="link document-name" onClick=${onOpen}>${name}</button>
        </span>
        ${where.length > 0 && html`<span class="muted document-source">${where.join(" · ")}</span>`}
      </th>
      <td class="kind">${COLUMNS.kind(found, texts)}</td>
      <td data-column="language">${COLUMNS.language(found, texts)}</td>
      <td data-column="passagesTitle">${number(found.chunks)}</td>
      <td data-column="added">${found.added && shortDay(found.added * 1000)}</td>
      <td class="actions">
        <${RowMenu} id=${`actions-${id}`} label=${t("actionsFor", { title: name })}>
          <a href=${`#document=${encodeURIComponent(id)}`}>${t("details")}</a>
          <button type="button" onClick=${onAsk}>${t("askChosen", { n: 1 })}</button>
          ${onDelete && html`<button type="button" class="danger" onClick=${onDelete}>${t("delete")}</button>`}
        <//>
      </td>
    </tr>
  `;
};

/** The list; `removal` is missing if the reader may not remove, `onAsk(documents)` asks only these, `openId` is shown. */
export const Documents = ({ documents, openId, onOpen, onAsk, removal }) => {
  const { t } = useTexts();
  const [wanted, setWanted] = useState("");
  const [sorted, setSorted] = useState({ column: "", sign: 1 });
  const [chosenIds, setChosenIds] = useState(new Set());
  const [shown, setShown] = useState(SHOWN);
  const frame = useRef(null);
  const inOrder = useSorted(documents, sorted);
  const typed = wanted.trim().toLowerCase();
  const found = inOrder.filter(({ title, source }) => `${title}\n${source}`.toLowerCase().includes(typed));
  // Only what is listed is asked or removed: nobody removes what they don't see.
  const chosen = found.filter(({ document_id: id }) => chosenIds.has(id));
  const areAllChosen = found.length > 0 && chosen.length === found.length;
  const choose = (ids, isChosen) => {
    const others = new Set(chosenIds);
    for (const id of ids) isChosen ? others.add(id) : others.delete(id);
    setChosenIds(others);
  };
  const focusList = () => frame.current?.focus({ preventScroll: true });
  const idsOf = (some) => some.map(({ document_id: id }) => id);
  const remove = (some) => {
    choose(idsOf(some), false);
    removal.remove(some);
  };
  return html`
    <div class="documents-bar">
      <input
        class="filter"
        type="search"
        aria-label=${t("filter")}
        placeholder=${t("filter")}
        value=${wanted}
        onInput=${(event) => setWanted(event.currentTarget.value)}
      />
      <span class="muted" role="status">
        ${
          chosen.length
            ? t("documentsChosen", { n: chosen.length })
            : typed && t(found.length ? "documentsFound" : "noneFound", { n: found.length })
        }
      </span>
      ${
        chosen.length > 0 &&
        html`<button type="button" class="plain-button" onClick=${() => onAsk(chosen)}>${t("askChosen", { n: chosen.length })}</button>`
      }
      ${
        chosen.length > 0 &&
        removal &&
        html`<button type="button" class="link danger" onClick=${() => remove(chosen)}>${t("deleteChosen", { n: chosen.length })}</button>`
      }
    </div>
    ${removal && html`<${Removed} removal=${removal} focusAfter=${focusList} />`}
    <div class="table-frame" tabindex="0" role="region" aria-label=${t("documents")} ref=${frame}>
      <table class="documents">
        <thead>
          <tr>
            <td>
              <input
                type="checkbox"
                aria-label=${t("chooseAll")}
                checked=${areAllChosen}
                indeterminate=${chosen.length > 0 && !areAllChosen}
                onChange=${() => choose(idsOf(found), !areAllChosen)}
              />
            </td>
            ${Object.keys(COLUMNS).map((column) => html`<${Heading} ...${{ column, sorted }} onSort=${setSorted} />`)}
            <th scope="col"><span class="hidden">${t("actions")}</span></th>
          </tr>
        </thead>
        <tbody>
          ${found.slice(0, shown).map(
            (each) => html`
              <${Row}
                key=${each.document_id}
                found=${each}
                isChosen=${chosenIds.has(each.document_id)}
                isOpen=${each.document_id === openId}
                onChoose=${(event) => choose([each.document_id], event.currentTarget.checked)}
                onOpen=${(event) => onOpen(each, event)}
                onAsk=${() => onAsk([each])}
                onDelete=${removal && (() => remove([each]))}
              />
            `,
          )}
        </tbody>
      </table>
      ${
        found.length > shown &&
        html`<button type="button" class="more" onClick=${() => setShown(shown + SHOWN)}>
          ${t("showMore", { n: found.length - shown })}
        </button>`
      }
    </div>
  `;
};
