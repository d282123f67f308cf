/** A piece of HTML (or SVG) in which all text from outside is escaped. Made by `html` only. */
export interface Html {
  readonly html: string;
}

type Value = string | number | Html | readonly Html[];

/** A template of HTML: strings put into it are escaped, pieces made by `html` are taken as they are. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { html: parts.reduce((text, part, index) => text + written(values[index - 1] ?? "") + part) };
}

/** Nothing, where a piece is optional. */
export const nothing: Html = { html: "" };

function written(value: Value): string {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return escaped(value);
  return "html" in value ? value.html : value.map((piece) => piece.html).join("");
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
