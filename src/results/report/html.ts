/** A piece of HTML (or SVG) in which all outside text is escaped. Only `html` creates it. */
export interface Html {
  readonly html: string;
}

/** A text in which parts between backticks are code. */
export function prose(text: string): Html {
  return html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

type Value = string | number | Html | readonly Html[];

/** A template of HTML. It escapes inserted strings, and inserts pieces made by `html` unchanged. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return { html: parts.reduce((text, part, index) => text + written(values[index - 1] ?? "") + part) };
}

/** An empty piece, for optional ones. */
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
