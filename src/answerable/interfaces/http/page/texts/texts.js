/** Texts, numbers and dates in the chosen language. */

import { LANGUAGES, TEXTS } from "./i18n.js";
import { createContext, useContext, useEffect, useMemo } from "../ui.js";
import { useKept } from "../preferences.js";

const Context = createContext(null);

export const TextsProvider = Context.Provider;

/**
 * The texts: `t(name, values)`, `languageName`, `number`, `seconds`, `dollars`, `percent`, `megabytes`, `day`, `shortDay`, `days`, `monthOrDay`,
 * `time` and `moment`.
 */
export const useTexts = () => useContext(Context);

const preferred = () =>
  navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => LANGUAGES.includes(tag)) ?? "en";

const inLanguage = (language) => {
  const at = LANGUAGES.indexOf(language);
  // Use the reader's regional format if the browser prefers one for this language.
  const locale = navigator.languages.find((tag) => tag.slice(0, 2) === language) ?? language;
  const plural = new Intl.PluralRules(language);
  const number = new Intl.NumberFormat(locale);
  const seconds = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });
  const money = new Intl.NumberFormat(locale, { style: "currency", currency: "USD", maximumSignificantDigits: 3 });
  const percent = new Intl.NumberFormat(locale, { style: "percent" });
  const megabytes = new Intl.NumberFormat(locale, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
  const shortDay = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
  const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  const languages = new Intl.DisplayNames(language, { type: "language", fallback: "code" });
  const t = (name, values = {}) => {
    // Unknown values of the server are shown as they are.
    const found = (TEXTS[name]?.[at] ?? name.replace(/^[a-z]+_/, "")).split("|");
    const text = found.length > 1 && plural.select(values.n) !== "one" ? found[1] : found[0];
    return text.replace(/\{(\w+)\}/g, (_, key) =>
      typeof values[key] === "number" ? number.format(values[key]) : values[key],
    );
  };
  return {
    language,
    t,
    languageName: (code) => (code ? languages.of(code) : "–"),
    number: (value) => number.format(value),
    seconds: (value) => `${seconds.format(value)}\u00a0s`,
    dollars: (value) => money.format(value),
    percent: (value) => percent.format(value),
    megabytes: (bytes) => megabytes.format(bytes / 1e6),
    day: (value) => day.format(new Date(value)),
    shortDay: (value) => shortDay.format(new Date(value)),
    days: (first, last) => day.formatRange(new Date(first), new Date(last)),
    // A date without a time is a calendar day in every time zone.
    monthOrDay: (value) =>
      value.length > 7 ? day.format(new Date(`${value}T12:00`)) : month.format(new Date(`${value}-15T12:00`)),
    time: (value) => time.format(new Date(value)),
    moment: (value) => moment.format(new Date(value)),
  };
};

const known = new Map();

/** The texts in a language, in that of the `texts` if the page hasn't it. */
export const textsIn = (language, texts) => {
  if (!LANGUAGES.includes(language) || language === texts.language) return texts;
  if (!known.has(language)) known.set(language, inLanguage(language));
  return known.get(language);
};

/** The texts in the stored or preferred language, and a function to change it. */
export const useLanguage = () => {
  const [language, setLanguage] = useKept("language", preferred());
  const texts = useMemo(() => inLanguage(language), [language]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return [texts, setLanguage];
};
