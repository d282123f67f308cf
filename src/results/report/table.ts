import { type Html, html, nothing } from "./html.ts";

type Cell = string | number | Html;

/** A table that scrolls sideways on narrow pages, by keyboard too. Columns of texts are aligned at their left. */
export function table(
  label: string,
  titles: readonly (string | Html)[],
  rows: readonly (readonly Cell[])[],
): Html {
  const kinds = titles.map((_, column) => {
    const cells = rows.map((row) => row[column] ?? "");
    return column > 0 && cells.some(isText) ? html` class="text"` : nothing; // the first column always is
  });
  const head = titles.map((title, column) => html`<th scope="col"${kinds[column] ?? nothing}>${title}</th>`);
  const body = rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, column) => html`<td${kinds[column] ?? nothing}>${cell}</td>`)}</tr>`,
  );
  return html`<div class="card scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>
`;
}

/** Whether a cell has words, such as a name, and not only a number with its unit. */
function isText(cell: Cell): boolean {
  if (typeof cell === "number") return false;
  const text = typeof cell === "string" ? cell : cell.html.replace(/<[^>]*>/g, "");
  return /^[^\d\s–+−<-]/.test(text);
}
