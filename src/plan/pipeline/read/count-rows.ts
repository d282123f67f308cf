/** The token counts of rows. The longest rows are counted first, and others may be left uncounted. */
export interface RowCount<Row> {
  rows: number;
  counted: number;
  /** Tokens of the longest row. */
  longest: number;
  /** The rows with more tokens than the room, in the order of the rows. */
  tooLong: { row: Row; tokens: number }[];
  /** Whether uncounted rows may be too long as well. */
  mayBeMore: boolean;
  /** Rows that can't be framed, by reason. */
  refused: Map<string, Row[]>;
}

/**
 * The minimum number of rows to count before the rest is assumed to fit, and the maximum number of rows and
 * bytes to count.
 */
const least = 32;
const most = 256;
const mostBytes = 2 ** 20;

/**
 * Counts the tokens of rows, the longest in bytes first, until the others are known or likely to fit. No
 * token is shorter than a byte, so rows with at most `room` bytes fit. `bytes` must include what the template
 * adds. After many rows in a row that use at most half the room, the rest is assumed to fit. `frame` returns
 * a row's tokens. `reason` describes what it throws.
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
