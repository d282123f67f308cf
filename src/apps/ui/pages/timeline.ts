import { counted, duration } from "../../../base/text/format.ts";
import type { Failure } from "../../../contracts/recorded-call.ts";
import { type Html, html, nothing } from "../../../results/report/html.ts";
import type { Timeline } from "../read-timeline.ts";

/** A line of the timeline: a bar from `start`, `seconds` long, and failed attempts below. */
interface Line {
  kind: "action" | "call";
  text: Html;
  start: number;
  seconds: number | undefined;
  attempts: string;
  failures: readonly Failure[];
}

/**
 * The turns and calls of a trajectory in order. Bars are as long as the recorded durations. A turn's calls begin after
 * its action, and the next action begins after the longest call, because waits between them are not recorded.
 */
export function timeline({ turns, scoreFailures }: Timeline): Html {
  if (turns.length === 0) return nothing;
  const lines: Line[] = [];
  let now = 0;
  for (const { turn, seconds = 0, calls } of turns) {
    lines.push({
      kind: "action",
      text: html`<a href="#turn-${turn}">turn ${turn}</a>`,
      start: now,
      seconds,
      attempts: "",
      failures: [],
    });
    now += seconds;
    for (const { name, seconds: took, attempts, failures } of calls)
      lines.push({
        kind: "call",
        text: html`${name}`,
        start: now,
        seconds: took,
        attempts: counted(Math.max(attempts, failures.length), "attempt"),
        failures,
      });
    now += Math.max(0, ...calls.map((call) => call.seconds ?? 0));
  }
  if (scoreFailures.length > 0)
    lines.push({
      kind: "call",
      text: html`score`,
      start: now,
      seconds: undefined,
      attempts: counted(scoreFailures.length, "failed attempt"),
      failures: scoreFailures,
    });
  const whole = now || 1;
  return html`<h2>Timeline</h2><div class="card scroll" tabindex="0" role="region" aria-label="Timeline"><table class="timeline"><thead><tr><th scope="col">turn or call</th><th scope="col" class="time">when</th><th scope="col">took</th><th scope="col">attempts</th></tr></thead><tbody>${lines.map((line) => row(line, whole))}</tbody></table></div>
<p class="facts">Durations as recorded. Waits between turns and calls are not recorded, so the bars leave them out.</p>`;
}

function row({ kind, text, start, seconds, attempts, failures }: Line, whole: number): Html {
  const percentOf = (value: number) => Math.round((value / whole) * 1000) / 10;
  const width = Math.max(0.5, percentOf(seconds ?? 0));
  const bar = html`<svg class="span" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="bar ${kind === "action" ? "blue" : "violet"}" x="${Math.min(99.5, percentOf(start))}" y="1" width="${width}" height="8"/></svg>`;
  const failed = failures.map(
    ({ at, code, reason }, index) =>
      html`<tr class="failed"><td colspan="4">${`attempt ${index + 1} failed at ${at.slice(11, 19)} UTC: ${code}: ${reason}`}</td></tr>`,
  );
  return html`<tr class="timed-${kind}"><td>${text}</td><td class="time">${bar}</td><td>${seconds === undefined ? "–" : duration(seconds)}</td><td>${attempts}</td></tr>${failed}`;
}
