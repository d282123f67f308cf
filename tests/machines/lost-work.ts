/** What a policy worker wrote about a generation. */
export interface GenerationLine {
  /** stop: it was given up. */
  event: "start" | "finish" | "stop";
  /** Of the run. */
  seed: number;
  /** stage/task/sample/turn. */
  key: string;
  time: number;
  worker: string;
}

/** Workers that were killed at once. */
export interface Eviction {
  time: number;
  workers: readonly string[];
}

/** What evictions cost, in turns. */
export interface LostWork {
  turns: number;
  /** Turns that killed workers had begun and not finished. */
  inFlight: number;
  /** Generations that had to be done again. */
  lost: number;
  /** Of these, the ones that no eviction explains, each as a sentence. */
  unexplained: string[];
}

interface Attempt {
  turn: string;
  worker: string;
  begun: number;
  finished?: number;
}

/** Milliseconds from the end of a generation until its turn is recorded: one that is killed before is in flight. */
const recording = 5000;

/** What evictions cost; lines are in the order of their times. */
export function lostWork(lines: readonly GenerationLine[], evictions: readonly Eviction[]): LostWork {
  const attempts = attemptsIn(lines);
  const byTurn = new Map<string, Attempt[]>();
  for (const one of attempts) byTurn.set(one.turn, [...(byTurn.get(one.turn) ?? []), one]);
  const repeated = [...byTurn.values()].flatMap((all) => all.slice(0, -1));
  const endOf = ({ worker, begun }: Attempt) =>
    evictions.find(({ time, workers }) => time >= begun && workers.includes(worker))?.time;
  const wasInFlight = (attempt: Attempt, slack: number) => {
    const end = endOf(attempt);
    return end !== undefined && (attempt.finished ?? Number.POSITIVE_INFINITY) > end - slack;
  };
  const unexplained = repeated.filter((attempt) => !wasInFlight(attempt, recording));
  const isRepeated = new Set(repeated);
  const inFlight = attempts.filter((one) => wasInFlight(one, isRepeated.has(one) ? recording : 0));
  return {
    turns: byTurn.size,
    inFlight: inFlight.length,
    lost: repeated.length,
    unexplained: unexplained.map(
      ({ turn, worker }) => `${turn} was generated again after ${worker} had begun it`,
    ),
  };
}

/** All generations but those that were given up: the last look for a record goes along with their first moments. */
function attemptsIn(lines: readonly GenerationLine[]): Attempt[] {
  const open = new Map<string, Attempt>();
  const attempts = new Set<Attempt>();
  for (const { event, seed, key, time, worker } of lines) {
    const turn = `${seed}/${key}`;
    const name = `${turn} ${worker}`;
    if (event === "start") {
      const attempt = { turn, worker, begun: time };
      attempts.add(attempt);
      open.set(name, attempt);
      continue;
    }
    const attempt = open.get(name);
    if (attempt === undefined) continue;
    if (event === "stop") attempts.delete(attempt);
    else attempt.finished = time;
    open.delete(name);
  }
  return [...attempts];
}
