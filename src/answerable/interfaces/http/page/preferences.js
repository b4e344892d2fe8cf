/** What a reader chose on this machine. */

import { useEffect, useState } from "./ui.js";

const PREFIX = `answerable:${location.pathname}:`;

/** What was kept under a name, or the fallback. */
export const kept = (name, fallback = "") => localStorage.getItem(PREFIX + name) ?? fallback;

/** Keeps a text under a name; an empty one forgets it. */
export const keep = (name, value) =>
  value ? localStorage.setItem(PREFIX + name, value) : localStorage.removeItem(PREFIX + name);

/** A choice that is kept: its value, and how to change it. */
export const useKept = (name, fallback) => {
  const [value, setValue] = useState(() => kept(name, fallback));
  const change = (chosen) => {
    keep(name, chosen);
    setValue(chosen);
  };
  return [value, change];
};

const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** Whether the page is dark, and how to turn that round. */
export const useTheme = () => {
  const [theme, setTheme] = useKept("theme", "");
  useEffect(() => {
    document.documentElement.dataset.theme = theme || "auto";
  }, [theme]);
  const isDark = theme ? theme === "dark" : prefersDark();
  return [isDark, () => setTheme(isDark ? "light" : "dark")];
};
