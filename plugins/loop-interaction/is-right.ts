/**
 * Whether an answer is the ground truth: what stands after the last `####`, in the last `<answer>` or `\boxed{}`, else the last number; numbers
 * by their value, all else as text without the spaces around it.
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

/** Without the dollar and the commas that GSM8K's answers have. */
function numberOf(text: string): number {
  const plain = text
    .trim()
    .replace(/^\$|[,.]$/g, "")
    .replaceAll(",", "");
  return plain === "" ? Number.NaN : Number(plain);
}
