import { type Html, html } from "./html.ts";

/** A table that scrolls sideways on narrow pages, by keyboard too. */
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
