/** What the metrics of a reward in a list are called, unless the pipeline says it: its name without `reward-`. */
export function partName({ name }: { name: string }): string {
  return name.replace(/^reward-/, "");
}
