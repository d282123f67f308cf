import { isEverturnError } from "../../../base/errors/everturn-error.ts";
import { waitingCalls } from "../../../control/operations/waiting-calls.ts";
import { withLiveRun } from "../../../control/supervision/run-client.ts";
import { type Html, html, prose } from "../../../results/report/html.ts";
import { document, runHeading } from "../layout.ts";
import { livePart } from "../live-part.ts";
import { runPath, trajectoryPath } from "../paths.ts";
import { link } from "../table.ts";
import type { ShownRun, UiContext } from "../ui-context.ts";
import { decision } from "./orders.ts";

/** The tool calls of a run that wait for a person. */
export async function waitingPage(context: UiContext, run: ShownRun): Promise<string> {
  const part = livePart(runPath(run.id, "parts", "waiting"), await waitingPart(context, run));
  return document({
    title: `Waiting in ${run.id}`,
    content: [runHeading(run.id, "Waiting for a person"), part],
    unreadable: run.unreadable,
  });
}

/** The calls that wait now. */
export async function waitingPart({ runs }: UiContext, run: ShownRun): Promise<Html> {
  if (!run.isLive && run.file.address === undefined)
    return html`<p class="empty">The run is not at work, so no tool call waits. While it works, calls that need an approval or an answer appear here.</p>`;
  const notices: string[] = [];
  try {
    const calls = await withLiveRun({ runs, run: run.id }, (client) =>
      waitingCalls(client, run.id, (text) => notices.push(text)),
    );
    const shown = calls.map(
      (call) =>
        html`<h2 class="hit-name">${link(trajectoryPath(call.trajectory), call.trajectory)}</h2>${decision(call.trajectory, call)}`,
    );
    const none = calls.length === 0 ? [html`<p class="empty">No tool call waits for a person.</p>`] : [];
    return html`${notices.map((text) => html`<p class="problem">${text}</p>`)}${none}<div class="talk">${shown}</div>`;
  } catch (error) {
    if (!isEverturnError(error)) throw error;
    return html`<p class="empty">${prose(error.message)}</p>`;
  }
}
