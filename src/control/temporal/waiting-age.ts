/** The number of oldest workflows to find: at least `least`, at most `most`. */
export interface Wanted {
  least: number;
  most: number;
}

/** The most queries to find an age between two ages that differ by a factor of two. */
const halvings = 12;

/**
 * An age in ms, at least `age`, that between `least` and `most` workflows have reached. `count` returns how many
 * have reached an age. The server lists the newest first, and of thousands only the oldest are worth listing. If
 * there is no such age, returns one that more workflows have reached.
 */
export async function waitingAge(
  count: (age: number) => Promise<number>,
  { least, most }: Wanted,
  age: number,
): Promise<number> {
  let low = age;
  if ((await count(low)) <= most) return low;
  let high = 2 * low;
  for (;;) {
    const older = await count(high);
    if (older < least) break;
    low = high;
    if (older <= most) return low;
    high *= 2;
  }
  for (let round = 0; round < halvings; round++) {
    const middle = Math.round((low + high) / 2);
    const older = await count(middle);
    if (older >= least && older <= most) return middle;
    if (older > most) low = middle;
    else high = middle;
  }
  return low;
}
