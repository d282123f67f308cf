/** The default name of a reward's metrics in a list: the plugin's name without its kind. */
export function partName({ name }: { name: string }): string {
  return name.replace(/^(reward|environment)-/, "");
}
