/** Where the largest of `count` numbers from `start` on is, counted from there; the first of several. */
export function indexOfLargest(numbers: Float32Array, start = 0, count = numbers.length - start): number {
  let best = 0;
  let largest = numbers[start]!;
  for (let index = 1; index < count; index++) {
    const number = numbers[start + index]!;
    if (number > largest) {
      largest = number;
      best = index;
    }
  }
  return best;
}
