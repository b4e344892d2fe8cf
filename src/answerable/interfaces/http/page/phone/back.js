/** On a phone, Back closes what is open instead of leaving the page. */

import { useEffect } from "../ui.js";

const isPhone = matchMedia("(pointer: coarse)");

/** Make Back call `close` while something is open. */
export const useBack = (isOpen, close) => {
  useEffect(() => {
    if (!isOpen || !isPhone.matches) return;
    history.pushState({ isOpen }, "");
    addEventListener("popstate", close);
    return () => {
      removeEventListener("popstate", close);
      // Closed in another way: the step isn't left behind.
      if (history.state?.isOpen) history.back();
    };
  }, [isOpen]);
};
