import { join } from "node:path";
import { createRun, loadPipeline, type TrainOptions } from "everturn";

/** A server that holds the base model of `prepareBase`. */
interface LearnOptions extends Pick<TrainOptions, "signal" | "onEvent"> {
  url: string;
  /** The base model's folder, which is also the server's name for it. */
  base: string;
  /** The folder of runs. */
  runs: string;
}

/** The share of held-out tasks that the policy solved greedily, before the run and after it, and the run's folder. */
interface Learned {
  before: number;
  after: number;
  run: string;
}

/** Learns to use the calculator on a training server, through Temporal. */
export async function learn({ url, base, runs, ...options }: LearnOptions): Promise<Learned> {
  const place = ["policy", "trainer"].flatMap((part) => [
    [`${part}.config.url`, url],
    [`${part}.config.baseModel`, base],
  ]);
  const set = { ...Object.fromEntries(place), "policy.config.model": base };
  const run = await createRun(await loadPipeline(join(import.meta.dirname, "pipeline.yaml"), { set }), {
    runs,
  });
  const { accuracyBefore: before, accuracyAfter: after } = await run.train(options);
  return { before, after, run: run.folder };
}
