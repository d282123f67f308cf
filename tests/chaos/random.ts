/** Random numbers in [0, 1) from a seed (mulberry32), so that a schedule of kills can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Deals `cards` in random order, and from a new deck when all are dealt: each comes as often as it should. */
export function deck<Card>(cards: readonly Card[], random: () => number): () => Card {
  let left: Card[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    const [card] = left.splice(Math.floor(random() * left.length), 1);
    if (card === undefined) throw new Error("there are no cards to deal");
    return card;
  };
}
