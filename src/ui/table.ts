import { type Html, html } from "../report/html.ts";

/** A link within the pages. */
export function link(path: string, text: string): Html {
  return html`<a href="${path}">${text}</a>`;
}

/** A table that scrolls sideways where the page is narrow, by the keyboard too. */
export function table(
  label: string,
  titles: readonly (string | Html)[],
  rows: readonly (readonly (string | number | Html)[])[],
): Html {
  const head = titles.map((title) => html`<th scope="col">${title}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`);
  return html`<div class="card scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>
`;
}

/** Names and what they are. */
export function facts(rows: readonly (readonly [string, string | Html])[]): Html {
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
