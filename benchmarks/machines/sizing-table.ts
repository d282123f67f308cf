import type { StoreCounts } from "./counted-store.ts";

/** What one trajectory costs. */
export interface TrajectoryCosts extends StoreCounts {
  /** Bytes that stay in the store. */
  kept: number;
  actions: number;
  events: number;
  historyBytes: number;
  /** Of Temporal's server and the workers. */
  cpuSeconds: number;
}

const day = 24 * 60 * 60;

/** The columns of the table: trajectories a day. */
export const sizes: readonly number[] = [1000, 100_000, 1_000_000];

/** The rows of a sizing table, each with a value per size. */
export function sizingTable(of: TrajectoryCosts, { turns, seconds }: { turns: number; seconds: number }) {
  const rows: [string, (count: number) => string][] = [
    ["turns a second, on average", (count) => significant((count * turns) / day)],
    [
      `turns in generation at once, if one takes ${seconds} s`,
      (count) => significant((count * turns * seconds) / day),
    ],
    [
      "CPU cores for Temporal's server and the workers",
      (count) => significant((count * of.cpuSeconds) / day),
    ],
    ["store: writes and lists a day", (count) => thousands(count * of.writes)],
    ["store: reads a day", (count) => thousands(count * of.reads)],
    ["store: bytes kept a day", (count) => bytes(count * of.kept)],
    ["store: bytes read a day", (count) => bytes(count * of.read)],
    ["Temporal: actions a day", (count) => thousands(count * of.actions)],
    ["Temporal: events a day", (count) => thousands(count * of.events)],
    ["Temporal: histories a day", (count) => bytes(count * of.historyBytes)],
  ];
  return rows.map(([name, value]) => ({ name, values: sizes.map(value) }));
}

/** The table in Markdown. */
export function asMarkdown(table: ReturnType<typeof sizingTable>): string {
  const head = ["trajectories a day", ...sizes.map((size) => size.toLocaleString("en-US"))];
  const rows = [head, head.map(() => "---"), ...table.map(({ name, values }) => [name, ...values])];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function significant(value: number): string {
  return Number(value.toPrecision(2)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}

function thousands(value: number): string {
  const [unit, name] = value >= 1e6 ? [1e6, " million"] : value >= 1000 ? [1000, " thousand"] : [1, ""];
  return `${significant(value / unit)}${name}`;
}

function bytes(value: number): string {
  const [unit, name] = value >= 1e9 ? [1e9, "GB"] : value >= 1e6 ? [1e6, "MB"] : [1000, "kB"];
  return `${significant(value / unit)} ${name}`;
}
