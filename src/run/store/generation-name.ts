/**
 * Where the object stands that replaces one that can't be read, after `replaced` of them. A broken object is never
 * removed to make room: of two writers who found it broken, the late one would remove what the first one put there. The
 * next name is taken by the first of them, as any name is.
 */
export function generation(path: string, replaced: number): string {
  if (replaced === 0) return path;
  const dot = path.lastIndexOf(".");
  return `${path.slice(0, dot)}~${replaced}${path.slice(dot)}`;
}

/** The path that a generation belongs to, and which one it is. Names have no `~` but this one. */
export function generationOf(name: string): { path: string; replaced: number } {
  const match = /~(\d+)(\.[a-z]+)$/.exec(name);
  if (match === null) return { path: name, replaced: 0 };
  return { path: `${name.slice(0, match.index)}${match[2]}`, replaced: Number(match[1]) };
}
