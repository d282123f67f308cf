/** The properties of a thrown value that are inspected. */
interface Thrown {
  name?: unknown;
  stack?: unknown;
  cause?: unknown;
  code?: unknown;
}

const names = ["TypeError", "ReferenceError", "SyntaxError"];

/**
 * Errors from these functions are about text that was read: an answer that is not JSON, or a model's pattern or URL.
 */
const readers =
  /^\s*at (JSON\.parse|new RegExp|RegExp|new URL|String\.(match|matchAll|replace|search|split)) /m;

/**
 * Where the mistake in a program's source is, as file:line; undefined if `thrown` is not one. A mistake is a
 * TypeError, ReferenceError or SyntaxError whose innermost file belongs to the program. If the error has a cause (a
 * failed `fetch`, for example), the cause decides. Errors about text that was read don't count. Neither do errors
 * thrown inside a library, which may be about outside data. `folder` is the program's, in case it is inside
 * node_modules itself.
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

/** The file and line of a stack frame; undefined for the runtime's own frames. */
function placeIn(frame: string): string | undefined {
  const found = /(?:\(|at |async )(?:file:\/\/)?(\/[^()]*|[A-Za-z]:[\\/][^()]*?):(\d+):\d+\)?$/.exec(frame);
  return found === null ? undefined : `${found[1]}:${found[2]}`;
}
