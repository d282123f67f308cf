/** Bytes of an event's summary. */
const summaryLimit = 400;

/** Cuts `text` to `limit` UTF-8 bytes between two characters, and adds an ellipsis where it cuts. */
export function cut(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text); // the workflow sandbox has no Buffer
  if (bytes.length <= limit) return text;
  let end = limit - 3;
  while (isContinuation(bytes[end])) end -= 1;
  return `${new TextDecoder().decode(bytes.subarray(0, end))}…`;
}

/** Whether a UTF-8 byte continues the previous character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** One line for an event's summary. */
export function summary(text: string): string {
  return cut(text.replace(/\s+/g, " ").trim(), summaryLimit);
}
