import { type Html, html } from "../../results/report/html.ts";

/** A link within the pages. */
export function link(path: string, text: string): Html {
  return html`<a href="${path}">${text}</a>`;
}

/** A list of names with their values. */
export function facts(rows: readonly (readonly [string, string | Html])[]): Html {
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
