/** A sandbox as commands name it: its kind, or `kind=url` for one that a server runs. */
export function sandboxWish(text: string): string | { kind: string; url: string } {
  const [, kind, url] = /^([a-z0-9-]+)=(.*)$/.exec(text) ?? [];
  return kind === undefined || url === undefined ? text : { kind, url };
}
