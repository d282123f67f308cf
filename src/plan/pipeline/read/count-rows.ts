/** How many tokens rows have, as far as they were counted: the longest first. */
export interface RowCount<Row> {
  rows: number;
  counted: number;
  /** Tokens of the longest one. */
  longest: number;
  /** Those with more tokens than there is room for, in the order of the rows. */
  tooLong: { row: Row; tokens: number }[];
  /** Whether there may be more of them among those that were not counted. */
  mayBeMore: boolean;
  /** Those that can't be framed, by the reason. */
  refused: Map<string, Row[]>;
}

/** So many rows are counted before the others are taken to fit, and at most so many, or of so many bytes. */
const least = 32;
const most = 256;
const mostBytes = 2 ** 20;

/**
 * Counts the tokens of rows, the longest in bytes first, until the others fit: no token is shorter than a byte, so those
 * with no more bytes than `room` do (`bytes` must count what the template adds), and after many in a row that take half
 * of it at most, so do the rest. `frame` gives a row's tokens; what it throws is told by `reason`.
 */
export function countRows<Row>(options: {
  rows: readonly Row[];
  bytes: (row: Row) => number;
  frame: (row: Row) => number;
  reason: (thrown: unknown) => string;
  room: number;
}): RowCount<Row> {
  const { rows, frame, reason, room } = options;
  const sized = rows.map((row, index) => ({ row, index, bytes: options.bytes(row) }));
  sized.sort((a, b) => b.bytes - a.bytes);
  const tooLong: { row: Row; index: number; tokens: number }[] = [];
  const refused = new Map<string, Row[]>();
  let [counted, longest, read, easy] = [0, 0, 0, 0];
  for (const { row, index, bytes } of sized) {
    const isSafe = counted >= least && (bytes <= room || easy >= least);
    if (isSafe || counted >= most || read > mostBytes) break;
    counted++;
    read += bytes;
    try {
      const tokens = frame(row);
      longest = Math.max(longest, tokens);
      easy = tokens <= room / 2 ? easy + 1 : 0;
      if (tokens > room) tooLong.push({ row, index, tokens });
    } catch (thrown) {
      const why = reason(thrown);
      refused.set(why, [...(refused.get(why) ?? []), row]);
    }
  }
  const mayBeMore = tooLong.length > 0 && counted < rows.length && (counted >= most || read > mostBytes);
  tooLong.sort((a, b) => a.index - b.index);
  const named = tooLong.map(({ row, tokens }) => ({ row, tokens }));
  return { rows: rows.length, counted, longest, tooLong: named, mayBeMore, refused };
}
