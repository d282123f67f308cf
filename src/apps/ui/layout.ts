import { type Html, html, prose } from "../../results/report/html.ts";
import { runPath } from "./paths.ts";
import { link } from "./table.ts";

/** The parts around every page. */
export interface Page {
  title: string;
  /** The path to the page: addresses and names, from the top. */
  above?: readonly (readonly [path: string, name: string])[];
  content: Html | readonly Html[];
  /** Files that could not be read while it was made. */
  unreadable?: ReadonlySet<string>;
}

/** The most unreadable files to name on a page; it counts the others. */
const mostUnreadable = 5;

/** A whole document. It loads its own style and script, and nothing else. */
export function document({ title, above = [], content, unreadable = new Set() }: Page): string {
  const crumbs = above.map(([path, name]) => html`<span aria-hidden="true">/</span>${link(path, name)}`);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content='{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true,"historyEnabled":false}'>
<title>${`${title} · Everturn`}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/style.css"><script src="/assets/htmx.js" defer></script></head>
<body><a class="skip" href="#main">To the content</a><header class="top"><nav aria-label="Where you are"><a class="brand" href="/">Everturn</a>${crumbs}</nav></header>
<main id="main">${unreadableNote(unreadable)}${content}</main></body></html>
`.html;
}

function unreadableNote(unreadable: ReadonlySet<string>): Html[] {
  if (unreadable.size === 0) return [];
  const rest = unreadable.size - mostUnreadable;
  const more = rest > 0 ? [`… and ${rest} more`] : [];
  const lines = [
    ...[...unreadable].slice(0, mostUnreadable),
    ...more,
    "`npx everturn ledger` checks every file.",
  ];
  return [html`<p class="problem" role="alert">${prose(lines.join("\n"))}</p>`];
}

const tabs = [
  ["Overview"],
  ["Trajectories", "trajectories"],
  ["Search", "search"],
  ["Evaluations", "evaluations"],
  ["Waiting for a person", "waiting"],
  ["Log", "log"],
] as const;

/** The pages of a run, by name. */
export type RunTab = (typeof tabs)[number][0];

/** The heading of a run's pages. */
export function runHeading(run: string, current: RunTab): Html {
  const links = tabs.map(([name, ...below]) =>
    name === current
      ? html`<a href="${runPath(run, ...below)}" aria-current="page">${name}</a>`
      : link(runPath(run, ...below), name),
  );
  return html`<h1>${run}</h1><nav class="tabs" aria-label="Of this run">${links}</nav>`;
}
