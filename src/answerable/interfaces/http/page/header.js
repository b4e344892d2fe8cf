/** The header: navigation, library, language and theme. */

import { LANGUAGES, TEXTS } from "./texts/i18n.js";
import { useTexts } from "./texts/texts.js";
import { html, IconButton } from "./ui.js";

const Choice = ({ label, value, options, onChoose }) => html`
  <select class="choice" aria-label=${label} value=${value} onChange=${(event) => onChoose(event.currentTarget.value)}>
    ${options.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
  </select>
`;

/** The header; `view` is `ask`, `library` or `settings`. */
export const Header = ({ view, libraries, library, onLibrary, onLanguage, isDark, onTheme }) => {
  const { t, language } = useTexts();
  const current = (name) => (view === name ? "page" : undefined);
  return html`
    <header class="top">
      <a class="brand" href="#ask" aria-label="Answerable"
        ><img src="page/icon.svg" alt="" width="26" height="26" /><span>Answerable</span></a
      >
      <nav aria-label=${t("pages")}>
        <a href="#ask" aria-current=${current("ask")}>${t("ask")}</a>
        <a href="#library" aria-current=${view.startsWith("document=") ? "true" : current("library")}>${t("library")}</a>
        <a href="#settings" aria-current=${current("settings")}>${t("settings")}</a>
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
