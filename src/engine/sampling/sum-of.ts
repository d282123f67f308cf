/** The sum of numbers, without an iterator, which would take ten times as long. */
export function sumOf(numbers: Float32Array): number {
  let total = 0;
  for (let index = 0; index < numbers.length; index++) total += numbers[index]!;
  return total;
}
