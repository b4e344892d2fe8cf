/** The panel for sources, whose script is loaded when the first source is opened. */

import { html, useEffect, useState } from "../ui.js";

/** The panel, as `SourcePanel` of source.js takes it. */
export const SourcePanel = (props) => {
  const [loaded, setLoaded] = useState(null);
  useEffect(() => {
    import("./source.js").then(setLoaded);
  }, []);
  return loaded && html`<${loaded.SourcePanel} ...${props} />`;
};
