/** Of so many workflows the oldest are looked for: at least `least` of them, `most` at the most. */
export interface Wanted {
  least: number;
  most: number;
}

/** Questions that it takes at most to find an age between two of which one is twice the other. */
const halvings = 12;

/**
 * An age in ms, `age` or more, that between `least` and `most` workflows have reached, by asking `count` how many have
 * reached some: the server lists the newest first, and of thousands only the oldest are worth a list. If there is no such
 * age, one that more have reached.
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
