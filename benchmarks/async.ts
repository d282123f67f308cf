// Asynchronous rollouts against synchronous ones, through the real server: what is generated, which tools are called
// and how long each takes is the same on both sides, and only sleeping takes time.
// node benchmarks/async.ts [--rounds 3] [--turns 3,1] [--staleness 3,6] [--json]
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureRate, type Rate, type Shape } from "./async/rate.ts";
import { median } from "./shapes.ts";

/** The bars, at 3 turns. */
const bars = { ratio: 2.1, ofBound: 0.9 };

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    turns: { type: "string", default: "3,1" },
    staleness: { type: "string", default: "3,6" },
    json: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);

/** benchmarks/README.md says why these. */
function shapeOf(turns: number): Shape {
  return {
    turns,
    slots: 8,
    generation: 1,
    tool: { median: 1, sigma: 1 },
    training: turns,
    batch: 16,
    concurrency: 64,
  };
}

/** Trajectories a second that each resource allows. */
function boundsOf({ turns, slots, generation, tool, training, batch, concurrency }: Shape) {
  const toolMean = tool.median * Math.exp(tool.sigma ** 2 / 2);
  return {
    "generation slots": slots / (turns * generation),
    trainer: batch / training,
    "tool slots": concurrency / (turns * toolMean),
  };
}

interface Round {
  synchronous: Rate;
  asynchronous: Rate;
}

function ofBound(shape: Shape, { rate }: Rate): number {
  return rate / Math.min(...Object.values(boundsOf(shape)));
}

const hourly = ({ rate }: Rate) => Math.round(rate * 3600);
const percent = (share: number) => `${Math.round(share * 100)} %`;

async function measure(shape: Shape, staleness: number, folder: string): Promise<Round> {
  const isLong = shape.turns > 1;
  const synchronous = await measureRate(folder, shape, 0, { skipped: 0, measured: 2 });
  const steps = { skipped: isLong ? 2 : 4, measured: isLong ? 4 : 8 };
  return { synchronous, asynchronous: await measureRate(folder, shape, staleness, steps) };
}

function describe(shape: Shape, found: Round[]): Record<string, number> {
  const ratios = found.map(({ synchronous, asynchronous }) => asynchronous.rate / synchronous.rate);
  const shares = found.map(({ asynchronous }) => ofBound(shape, asynchronous));
  const [busiest = ""] = Object.entries(boundsOf(shape)).sort(([, a], [, b]) => a - b)[0] ?? [];
  const name = `${shape.turns}-turn`;
  console.log(
    `${name}: × ${Math.min(...ratios).toFixed(2)} at least, × ${median(ratios).toFixed(2)} median; ` +
      `${percent(Math.min(...shares))} of the bound that the ${busiest} set at least, ${percent(median(shares))} median`,
  );
  return {
    [`${name}.ratio.min`]: Math.min(...ratios),
    [`${name}.ratio.median`]: median(ratios),
    [`${name}.ofBound.min`]: Math.min(...shares),
    [`${name}.ofBound.median`]: median(shares),
    [`${name}.ofBound.synchronous`]: median(found.map(({ synchronous }) => ofBound(shape, synchronous))),
  };
}

const root = await mkdtemp(join(tmpdir(), "everturn-async-"));
try {
  const bounds = values.staleness.split(",").map(Number);
  const shapes = values.turns.split(",").map((turns) => shapeOf(Number(turns)));
  const found = new Map<Shape, Round[]>(shapes.map((shape) => [shape, []]));
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  for (let round = 1; round <= rounds; round++) {
    for (const [index, shape] of shapes.entries()) {
      const measured = await measure(shape, bounds[index] ?? bounds[0] ?? 3, root);
      found.get(shape)?.push(measured);
      const { synchronous, asynchronous } = measured;
      console.log(
        `round ${round}, ${shape.turns}-turn: synchronous ${hourly(synchronous)} an hour ` +
          `(${percent(ofBound(shape, synchronous))} of the bound), asynchronous ${hourly(asynchronous)} ` +
          `(${percent(ofBound(shape, asynchronous))}, staleness up to ${asynchronous.staleness})`,
      );
    }
  }
  const summary = Object.assign({}, ...[...found].map(([shape, rates]) => describe(shape, rates)));
  if (values.json) console.log(JSON.stringify({ ...summary, bars }));
} finally {
  await rm(root, { recursive: true, force: true });
}
