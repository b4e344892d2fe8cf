/** Shared by all components: templates, hooks and icons. */

import { createContext, Fragment, h, render } from "./vendor/preact.mjs";
import {
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "./vendor/hooks.mjs";
import { default as htm } from "./vendor/htm.mjs";

export { createContext, Fragment, render };
export { useCallback, useContext, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState };

export const html = htm.bind(h);

const PATHS = {
  again: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3l2.2 2.1M19.5 4v4.8h-4.8",
  add: "M12 5v14M5 12h14",
  ask: "M12 19V6M6 11.5 12 5.5l6 6",
  back: "M15 5.5 8.5 12l6.5 6.5",
  book: "M5 5.5A1.5 1.5 0 0 1 6.5 4H19v13H6.5A1.5 1.5 0 0 0 5 18.5m0-13v13A1.5 1.5 0 0 0 6.5 20H19v-3",
  copy: "M10 8.5h8a1.5 1.5 0 0 1 1.5 1.5v8a1.5 1.5 0 0 1-1.5 1.5h-8A1.5 1.5 0 0 1 8.5 18v-8A1.5 1.5 0 0 1 10 8.5zM5.5 15.5A1 1 0 0 1 4.5 14.5V6A1.5 1.5 0 0 1 6 4.5h8.5a1 1 0 0 1 1 1",
  chat: "M5 5h14a1.5 1.5 0 0 1 1.5 1.5v8A1.5 1.5 0 0 1 19 16h-7l-4.5 4v-4H5a1.5 1.5 0 0 1-1.5-1.5v-8A1.5 1.5 0 0 1 5 5z",
  code: "m9 8-4.5 4L9 16m6-8 4.5 4-4.5 4",
  day: "M5.5 6h13A1.5 1.5 0 0 1 20 7.5v11a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18.5v-11A1.5 1.5 0 0 1 5.5 6zM4 10.5h16M8 3.5V7m8-3.5V7",
  close: "m6 6 12 12M18 6 6 18",
  done: "m5 12.5 4.5 4.5L19 7.5",
  edit: "m15.2 5.6 3.2 3.2M4.5 19.5l.9-3.9L15.9 5.1a1.6 1.6 0 0 1 2.3 0l.7.7a1.6 1.6 0 0 1 0 2.3L8.4 18.6z",
  export: "M12 4v11m-4.5-4 4.5 4.5 4.5-4.5M5 19.5h14",
  fresh: "M12 20H5.5A1.5 1.5 0 0 1 4 18.5v-12A1.5 1.5 0 0 1 5.5 5H12m6.2-1.3a1.6 1.6 0 0 1 2.3 2.3L13 13.5l-3 .7.7-3z",
  less: "M5 12h14",
  mail: "M5 5.5h14A1.5 1.5 0 0 1 20.5 7v10a1.5 1.5 0 0 1-1.5 1.5H5A1.5 1.5 0 0 1 3.5 17V7A1.5 1.5 0 0 1 5 5.5zm-1 2 8 6 8-6",
  moon: "M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7z",
  more: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  near: "M4.5 9.8c2.5-2.4 5-2.4 7.5 0s5 2.4 7.5 0M4.5 15.8c2.5-2.4 5-2.4 7.5 0s5 2.4 7.5 0",
  next: "M9 5.5l6.5 6.5L9 18.5",
  note: "M7 3.5h7l4.5 4.5v11A1.5 1.5 0 0 1 17 20.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zm7 0V8h4.5M12 11v6m-3-3h6",
  nothing: "M10.5 17a6.5 6.5 0 1 1 0-13 6.5 6.5 0 0 1 0 13zm4.7-1.8L20 20M8.3 8.3l4.4 4.4m0-4.4-4.4 4.4",
  open: "M14 5h5v5m0-5-8 8M17 14v4.5a.5.5 0 0 1-.5.5h-11a.5.5 0 0 1-.5-.5v-11a.5.5 0 0 1 .5-.5H10",
  page: "M7 3.5h7l4.5 4.5v11A1.5 1.5 0 0 1 17 20.5H7A1.5 1.5 0 0 1 5.5 19V5A1.5 1.5 0 0 1 7 3.5zm7 0V8h4.5M9 12.5h6M9 16h6",
  people: "M12 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM5 20c.5-4 3-5.5 7-5.5s6.5 1.5 7 5.5",
  picture: "M5.5 4.5h13A1.5 1.5 0 0 1 20 6v12a1.5 1.5 0 0 1-1.5 1.500h-13A1.5 1.5 0 0 1 4 18V6a1.5 1.5 0 0 1 1.5-1.500zM4 16l4.5-4.5 4 4 2.5-2.5 5 5M15.5 9h.01",
  quote: "M9.5 7H5.5v5.5h4zm0 5.5c0 2.5-1 4-3 4.5M18.5 7h-4v5.5h4zm0 5.5c0 2.5-1 4-3 4.5",
  side: "M6 5h12a1.5 1.5 0 0 1 1.5 1.5v11A1.5 1.5 0 0 1 18 19H6a1.5 1.5 0 0 1-1.5-1.5v-11A1.5 1.5 0 0 1 6 5zm3.8 0v14",
  settings: "M4 7.5h9m4 0h3M4 16.5h3m4 0h9M15 9.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM9 18.500a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  sound: "M5 10v4m3.5-7v10M12 4.500v15M15.5 8v8m3.5-5.500v3",
  sun: "M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2.5v2m0 15v2M2.5 12h2m15 0h2M5.3 5.3l1.4 1.4m10.6 10.6 1.4 1.4m0-13.4-1.4 1.4M6.7 17.3l-1.4 1.4",
  table: "M5 5h14a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM4 10h16M4 14.500h16M10 5v14",
  thumb:
    "M7.5 10.5 11 3.9a2 2 0 0 1 2.2 2.4l-.6 3.2h5a2 2 0 0 1 2 2.4l-1.2 6a2 2 0 0 1-2 1.6H7.5m0-9v9m0-9h-3v9h3",
  web: "M12 20.500a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17zM3.5 12h17M12 3.500c-3 2.300-3.5 5-3.5 8.500s.5 6.200 3.5 8.500c3-2.300 3.5-5 3.5-8.500S15 5.800 12 3.500z",
  width: "M4.5 5v14M19.5 5v14M7.5 12h9m-6.5-3-3 3 3 3m4-6 3 3-3 3",
  warning:
    "M12 8.5v5m0 3v.2M10.7 4.3 2.9 18a1.5 1.5 0 0 0 1.3 2.2h15.6a1.5 1.5 0 0 0 1.3-2.2L13.3 4.3a1.5 1.5 0 0 0-2.6 0z",
};

/** Whether a media query matches. */
export const useMedia = (query) => {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = () => setMatches(list.matches);
    list.addEventListener("change", look);
    return () => list.removeEventListener("change", look);
  }, [query]);
  return matches;
};

/** A component whose module is loaded when it is first shown; its `onProblem` learns if it can't be. */
export const lazily = (load) => {
  let Loaded;
  return (props) => {
    const [isLoaded, setLoaded] = useState(Boolean(Loaded));
    useEffect(() => {
      const ready = (found) => {
        Loaded = found;
        setLoaded(true);
      };
      if (!isLoaded) load().then(ready, () => props.onProblem?.({ status: 0, code: "unreachable" }));
    }, []);
    return isLoaded && html`<${Loaded} ...${props} />`;
  };
};

/** An icon, hidden from screen readers, since its parent has a name. */
export const Icon = ({ name }) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>
`;

/** A button with an icon; its name is for screen readers and the tooltip. */
export const IconButton = ({ icon, label, ...rest }) => html`
  <button type="button" class="icon-button" aria-label=${label} title=${label} ...${rest}>
    <${Icon} name=${icon} />
  </button>
`;
