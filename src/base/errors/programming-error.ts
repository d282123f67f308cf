/** What is looked at of something that was thrown. */
interface Thrown {
  name?: unknown;
  stack?: unknown;
  cause?: unknown;
  code?: unknown;
}

const names = ["TypeError", "ReferenceError", "SyntaxError"];

/** Where these are thrown, it is because of a text that was read: an answer that is no JSON, a model's pattern or URL. */
const readers =
  /^\s*at (JSON\.parse|new RegExp|RegExp|new URL|String\.(match|matchAll|replace|search|split)) /m;

/**
 * Where a mistake in a program's text was made, as file:line; undefined if what was thrown is none. It is a TypeError, a
 * ReferenceError or a SyntaxError whose innermost file is the program's own. Not so are errors whose cause is another
 * one, as that of a `fetch` that failed, those about a text that was read, and those thrown in a library, which may be
 * about what it got from outside. `folder` is the program's, should that lie in node_modules itself.
 */
export function placeOfMistake(thrown: unknown, folder: string): string | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { name, stack, cause, code }: Thrown = thrown;
  if (!names.includes(String(name)) || code === "ERR_INVALID_URL" || typeof stack !== "string")
    return undefined;
  if (cause !== undefined) return placeOfMistake(cause, folder);
  const frames = stack.split("\n").filter((line) => /^\s*at /.test(line));
  if (name === "SyntaxError" && readers.test(frames[0] ?? "")) return undefined;
  const place = frames.map(placeIn).find((one) => one !== undefined);
  if (place === undefined) return undefined;
  const inner = place.startsWith(`${folder}/`) ? place.slice(folder.length) : place;
  return inner.includes("/node_modules/") ? undefined : place;
}

/** The file and line of a stack's frame; undefined if it is one of the runtime's own. */
function placeIn(frame: string): string | undefined {
  const found = /(?:\(|at |async )(?:file:\/\/)?(\/[^()]*|[A-Za-z]:[\\/][^()]*?):(\d+):\d+\)?$/.exec(frame);
  return found === null ? undefined : `${found[1]}:${found[2]}`;
}
