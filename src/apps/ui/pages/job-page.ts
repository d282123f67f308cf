import { type Html, html } from "../../../results/report/html.ts";
import type { Job } from "../jobs.ts";
import { document } from "../layout.ts";
import { livePart } from "../live-part.ts";

/** A command that a page has started, and its output. */
export function jobPage(job: Job): string {
  const content = html`<h1>${job.command}</h1>${job.exitCode === undefined ? livePart(`/parts/jobs/${job.number}`, jobPart(job), 1) : jobPart(job)}`;
  return document({ title: job.command, content });
}

/** The part that changes while it works. */
export function jobPart({ output, exitCode }: Job): Html {
  const state =
    exitCode === undefined ? "at work" : exitCode === 0 ? "done" : `failed, exit code ${exitCode}`;
  return html`<p class="facts" role="status"><span class="state ${exitCode === undefined ? "live" : ""}">${state}</span></p><pre class="card" tabindex="0" role="region" aria-label="Output">${output}</pre>`;
}
