/** Choices kept in the browser. */

import { useEffect, useState } from "./ui.js";

const PREFIX = `answerable:${location.pathname}:`;

/** The stored text, or the fallback. */
export const kept = (name, fallback = "") => localStorage.getItem(PREFIX + name) ?? fallback;

/** Store a text; an empty one deletes it. */
export const keep = (name, value) =>
  value ? localStorage.setItem(PREFIX + name, value) : localStorage.removeItem(PREFIX + name);

/** A stored choice: its value and a setter. */
export const useKept = (name, fallback) => {
  const [value, setValue] = useState(() => kept(name, fallback));
  const change = (chosen) => {
    keep(name, chosen);
    setValue(chosen);
  };
  return [value, change];
};

const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** Whether the page is dark, a function to toggle it, the choice (empty: as the system), and a function to set it. */
export const useTheme = () => {
  const [theme, setTheme] = useKept("theme", "");
  useEffect(() => {
    document.documentElement.dataset.theme = theme || "auto";
  }, [theme]);
  const isDark = theme ? theme === "dark" : prefersDark();
  return [isDark, () => setTheme(isDark ? "light" : "dark"), theme, setTheme];
};
