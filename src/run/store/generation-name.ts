/**
 * The path of the object that replaces an unreadable one, after `replaced` earlier replacements. A broken object is
 * never removed to make room: if two writers find it broken, the later one would remove the replacement of the
 * first. Instead the first one takes the next name, like any other name.
 */
export function generation(path: string, replaced: number): string {
  if (replaced === 0) return path;
  const dot = path.lastIndexOf(".");
  return `${path.slice(0, dot)}~${replaced}${path.slice(dot)}`;
}

/** The path that a generation belongs to, and its number. No other names contain `~`. */
export function generationOf(name: string): { path: string; replaced: number } {
  const match = /~(\d+)(\.[a-z]+)$/.exec(name);
  if (match === null) return { path: name, replaced: 0 };
  return { path: `${name.slice(0, match.index)}${match[2]}`, replaced: Number(match[1]) };
}
