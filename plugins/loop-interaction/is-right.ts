/**
 * Whether an answer equals the ground truth. Its result is the text after the last `####`, in the last
 * `<answer>` or in the last `\boxed{}`, or else its last number. Numbers are compared by value, other texts
 * without surrounding spaces.
 */
export function isRight(text: string, truth: string): boolean {
  const found = written(text) ?? lastNumber(text);
  if (found === undefined) return false;
  const [one, other] = [numberOf(found), numberOf(truth)];
  return Number.isNaN(one) || Number.isNaN(other) ? found.trim() === truth.trim() : one === other;
}

function written(text: string): string | undefined {
  const marked = [/####([^\n]*)/g, /<answer>([\s\S]*?)<\/answer>/g, /\\boxed\{([^{}]*)\}/g];
  return marked.flatMap((pattern) => [...text.matchAll(pattern)].at(-1)?.[1] ?? [])[0];
}

function lastNumber(text: string): string | undefined {
  return text.match(/-?\d[\d,]*(\.\d+)?/g)?.at(-1);
}

/** Removes the dollar signs and commas of GSM8K's answers. */
function numberOf(text: string): number {
  const plain = text
    .trim()
    .replace(/^\$|[,.]$/g, "")
    .replaceAll(",", "");
  return plain === "" ? Number.NaN : Number(plain);
}
