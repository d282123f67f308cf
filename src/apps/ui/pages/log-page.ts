import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { namesIn } from "../../../base/files/names-in.ts";
import { grouped } from "../../../base/text/format.ts";
import { type Html, html } from "../../../results/report/html.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath, withQuery } from "../paths.ts";
import { link } from "../table.ts";
import type { ShownRun } from "../ui-context.ts";

const ending = ".log";

/** The most bytes of a log to show, from its end. */
const mostBytes = 64 * 1024;

/** The logs of a run: the end of the one named, or of the session's. */
export async function logPage(run: ShownRun, named: string | undefined): Promise<string> {
  const names = await logNames(run);
  const shown = names.find((name) => name === named) ?? names.find((name) => name === "session") ?? names[0];
  const links = names.map((name) =>
    name === shown
      ? html`<a href="${logPath(run, name)}" aria-current="true">${name}</a>`
      : link(logPath(run, name), name),
  );
  const content =
    shown === undefined
      ? html`<p class="empty">This run has no logs here: only the machine that works on it has them.</p>`
      : html`<nav class="pages" aria-label="Logs">${links}</nav>${livePart(withQuery(runPath(run.id, "parts", "log"), { name: shown }), await logPart(run, shown))}`;
  return document({
    title: `Log of ${run.id}`,
    content: [runHeading(run.id, "Log"), content],
    unreadable: run.unreadable,
  });
}

/** The end of a log; nothing for a name that is not a log of the run. */
export async function logPart(run: ShownRun, name: string): Promise<Html> {
  if (!(await logNames(run)).includes(name)) return html`<p class="empty">There is no such log.</p>`;
  const file = await open(run.folder.log(name));
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - mostBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    const cut = from === 0 ? "" : `The last ${grouped(bytesRead)} of ${grouped(size)} bytes of `;
    return html`<p class="facts">${`${cut}${run.folder.log(name)}`}</p><pre class="card" tabindex="0" role="region" aria-label="Log ${name}">${buffer.toString("utf8", 0, bytesRead) || "(empty)"}</pre>`;
  } finally {
    await file.close();
  }
}

async function logNames({ folder }: ShownRun): Promise<string[]> {
  const names = await namesIn(dirname(folder.log("any")));
  return names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
}

function logPath(run: ShownRun, name: string): string {
  return withQuery(runPath(run.id, "log"), { name });
}
