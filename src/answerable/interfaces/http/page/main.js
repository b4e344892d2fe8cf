/** Shows the page. */

import { App } from "./app.js";
import { startWorker } from "./phone/worker.js";
import { html, render } from "./ui.js";

render(html`<${App} />`, document.getElementById("app"));
startWorker();
