const typeNames: Record<string, string> = {
  object: "a mapping of keys to values",
  array: "a list",
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "empty",
};

/** JSON Schema types, worded for messages. */
export function typeText(type: string | string[]): string {
  return [type]
    .flat()
    .map((name) => typeNames[name] ?? name)
    .join(" or ");
}

/** A value, worded for messages: “abc”, 3, a list… */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty text" : `“${shortened(value)}”`;
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" ? "a mapping" : String(value);
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
