import { wholeLines } from "../../base/files/line-file.ts";
import { patiently } from "../../base/files/patiently.ts";
import type { ToolHostLine } from "../../contracts/tool-host-change.ts";
import type { RunFolder } from "./run-folder.ts";

/** The lines of `hosts.jsonl`, in order, without those that a killed worker left torn. */
export async function readHostLines({ hosts }: Pick<RunFolder, "hosts">): Promise<ToolHostLine[]> {
  return (await patiently(() => wholeLines(hosts))).flatMap(parsedLine);
}

function parsedLine(line: string): ToolHostLine[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** A time in ms since 1970, with the time at which it ends. */
interface Span {
  from: number;
  to: number;
}

/**
 * For how many seconds each tool host was paused between two times in ms since 1970. Hosts that were not paused are
 * absent. Workers pause a host separately; a time counts once if at least one of them paused it. A pause that has not
 * ended counts if it began after `from`, because a worker that is killed never ends its pauses.
 */
export function hostPauses(lines: readonly ToolHostLine[], from: number, to: number): Record<string, number> {
  const pauses: Record<string, number> = {};
  for (const host of new Set(lines.map((line) => line.host))) {
    const seconds = lengthOf(spansOf(lines.filter((line) => line.host === host)), from, to) / 1000;
    if (seconds > 0) pauses[host] = seconds;
  }
  return pauses;

  function spansOf(ofHost: readonly ToolHostLine[]): Span[] {
    const spans: Span[] = [];
    let open: number[] = []; // when the pauses began that have not ended
    for (const { at, state, seconds } of ofHost) {
      const time = Date.parse(at);
      if (state === "paused") open.push(time);
      if (state !== "resumed") continue;
      spans.push({ from: time - seconds * 1000, to: time });
      open = open.slice(1);
    }
    return [...spans, ...open.filter((begin) => begin >= from).map((begin) => ({ from: begin, to }))];
  }
}

/** The time between two times that spans cover, in ms. */
function lengthOf(spans: readonly Span[], from: number, to: number): number {
  let total = 0;
  let covered = from;
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const end = Math.min(span.to, to);
    total += Math.max(0, end - Math.max(span.from, covered));
    covered = Math.max(covered, end);
  }
  return total;
}
