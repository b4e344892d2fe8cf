/** The header: navigation, library, language and theme. */

import { LANGUAGES, TEXTS } from "./texts/i18n.js";
import { useTexts } from "./texts/texts.js";
import { html, Icon, IconButton } from "./ui.js";

const Choice = ({ label, value, options, onChoose }) => html`
  <select class="choice" aria-label=${label} value=${value} onChange=${(event) => onChoose(event.currentTarget.value)}>
    ${options.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
  </select>
`;

const skip = () =>
  (document.querySelector(".composer textarea") ?? document.querySelector("main :is(a, button, input)"))?.focus();

/** The header; `view` as in the address. */
export const Header = ({ view, libraries, library, onLibrary, onLanguage, isDark, onTheme }) => {
  const { t, language } = useTexts();
  const at = view.split("=")[0];
  // A document's page is in the library.
  const current = (name) => (at === name ? "page" : name === "library" && at === "document" ? "true" : undefined);
  const page = (name, icon) =>
    html`<a href=${`#${name}`} aria-current=${current(name)}><${Icon} name=${icon} />${t(name)}</a>`;
  return html`
    <header class="top">
      <button type="button" class="skip plain-button" onClick=${skip}>${t("skip")}</button>
      <a class="brand" href="#ask" aria-label="Answerable"
        ><img src="page/icon.svg" alt="" width="26" height="26" /><span>Answerable</span></a
      >
      <nav aria-label=${t("pages")}>
        ${page("ask", "chat")} ${page("library", "book")} ${page("settings", "settings")}
      </nav>
      <div class="top-choices">
        ${
          libraries.length > 1 &&
          html`<${Choice}
            label=${t("whichLibrary")}
            value=${library}
            options=${libraries.map(({ name, title, together }) => [name, together ? t("allLibraries") : title])}
            onChoose=${onLibrary}
          />`
        }
        <span class="top-looks">
          <${Choice}
            label=${t("language")}
            value=${language}
            options=${LANGUAGES.map((each, at) => [each, TEXTS.languageName[at]])}
            onChoose=${onLanguage}
          />
          <${IconButton} icon=${isDark ? "sun" : "moon"} label=${t(isDark ? "light" : "dark")} onClick=${onTheme} />
        </span>
      </div>
    </header>
  `;
};
