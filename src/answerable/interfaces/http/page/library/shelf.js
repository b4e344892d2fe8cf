/** Make, rename and remove libraries. */

import { of, request } from "../api/api.js";
import { Dialog } from "./dialog.js";
import { Trouble } from "../status.js";
import { useTexts } from "../texts/texts.js";
import { html, useState } from "../ui.js";

const LOOKS = { remove: "link danger" };

const NameForm = ({ label, value = "", button, accepts = Boolean, onName }) => {
  const [typed, setTyped] = useState(value);
  const [problem, setProblem] = useState(null);
  const send = (event) => {
    event.preventDefault();
    onName(typed.trim()).catch(setProblem);
  };
  return html`
    <form class="name-form" onSubmit=${send}>
      <label>${label}
        <input autofocus value=${typed} maxlength="80" onInput=${(event) => setTyped(event.currentTarget.value)} />
      </label>
      ${problem && html`<${Trouble} problem=${problem} />`}
      <button type="submit" class="plain-button" disabled=${!accepts(typed.trim())}>${button}</button>
    </form>
  `;
};

/** Buttons for `actions`, with their dialogs; `onLibraries` loads the list, and shows the library of a name. */
export const Shelf = ({ entry, actions, onLibraries }) => {
  const { t } = useTexts();
  const [open, setOpen] = useState("");
  const { name, title, may_create: mayCreate, may_remove: mayRemove } = entry;
  const send = async (method, path, typed) => {
    const found = await request(path, { method, body: typed && { title: typed } });
    setOpen("");
    onLibraries(found?.name ?? "");
  };
  const form = (more) => html`<${NameForm} label=${t("name")} button=${t("save")} ...${more} />`;
  const forms = {
    newLibrary: () => form({ onName: (typed) => send("POST", "api/v1/libraries", typed) }),
    rename: () => form({ value: title, onName: (typed) => send("PATCH", of(name), typed) }),
    remove: () =>
      mayRemove
        ? form({
            label: t("typeName", { name: title }),
            button: t("remove"),
            accepts: (typed) => typed === title,
            onName: () => send("DELETE", of(name)),
          })
        : html`<p>${t("notRemovable")}</p>`,
  };
  return html`
    <div class="shelf">
      ${actions.map(
        (each) =>
          (each !== "newLibrary" || mayCreate) &&
          html`<button type="button" class=${LOOKS[each] ?? "link"} onClick=${() => setOpen(each)}>${t(each)}</button>`,
      )}
      ${open && html`<${Dialog} key=${open} title=${t(open)} onClose=${() => setOpen("")}>${forms[open]()}<//>`}
    </div>
  `;
};
