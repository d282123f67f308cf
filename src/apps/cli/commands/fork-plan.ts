import { join, resolve } from "node:path";
import { trajectoryInput } from "../../../../workflows/trajectory-input.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isThere } from "../../../base/files/is-there.ts";
import { defined } from "../../../base/records/defined.ts";
import { counted } from "../../../base/text/format.ts";
import type { Trajectory } from "../../../contracts/generated/trajectory.ts";
import type { Origin, Queues, TrajectoryInput } from "../../../contracts/trajectory.ts";
import { runSettings } from "../../../plan/pipeline/resolve/run-settings.ts";
import type { OpenRun } from "../../../run/folder/open-runs.ts";
import { evaluationPlanKey } from "../../../run/store/keys.ts";
import { hasVersion, newestVersion } from "../../../run/versions/newest-version.ts";

/** A person's settings for a fork. Missing ones are those of the original. */
export interface ForkRequest {
  turn: number;
  policy?: string;
  temperature?: number;
  seed?: number;
}

/** How a fork's own turns are generated. */
export interface ForkPlan {
  record: Trajectory;
  policyVersion: number;
  origin: Origin;
}

/** Plans a fork of a trajectory. Throws TURN_NOT_FORKABLE and POLICY_NOT_FOUND. */
export async function forkPlan(run: OpenRun, record: Trajectory, asked: ForkRequest): Promise<ForkPlan> {
  const { turn } = asked;
  const turns = record.turns.length;
  if (turn >= turns) {
    const params = {
      trajectory: record.id,
      turn,
      turns: counted(turns, "turn"),
      last: Math.max(0, turns - 1),
    };
    throw new EverturnError("TURN_NOT_FORKABLE", params);
  }
  const { version, folder } = await policyOf(run, asked.policy ?? String(record.policyVersions[turn] ?? 0));
  return {
    record,
    policyVersion: version,
    origin: defined({
      trajectory: record.id,
      turns: turn,
      temperature: asked.temperature ?? (await originalTemperature(run, record)),
      seed: asked.seed ?? record.origin?.seed ?? run.plan.seed,
      policyFolder: folder,
    }),
  };
}

/** A version of the run, or a folder in Hugging Face's formats, which gets the number after the run's newest. */
async function policyOf(run: OpenRun, asked: string): Promise<{ version: number; folder?: string }> {
  if (/^\d+$/.test(asked)) {
    const version = Number(asked);
    if (await hasVersion(run, version)) return { version };
  } else if (isThere(join(asked, "config.json"))) {
    return { version: ((await newestVersion(run)) ?? 0) + 1, folder: resolve(asked) };
  }
  throw new EverturnError("POLICY_NOT_FOUND", { run: run.id, version: asked });
}

/** The original's temperature. Evaluations are greedy unless they were given another one. */
async function originalTemperature({ plan, store }: OpenRun, { stage, origin }: Trajectory): Promise<number> {
  if (origin !== undefined) return origin.temperature;
  if (!stage.startsWith("evaluation-")) return plan.rollout.temperature;
  return (await store.read(evaluationPlanKey(stage)))?.temperature ?? 0;
}

/** The inputs of `count` trajectories of the fork `stage`. */
export function forkInputs(
  { id: run, plan }: OpenRun,
  { record, policyVersion, origin }: ForkPlan,
  { stage, count, queues }: { stage: string; count: number; queues: Queues },
): TrajectoryInput[] {
  const settings = runSettings(plan);
  const sampling = { temperature: origin.temperature, maxTokens: settings.sampling.maxTokens };
  const said = record.turns[origin.turns]?.said;
  const tools = record.stage.includes("-no-tools") ? [] : settings.tools;
  return Array.from({ length: count }, (_, sample) =>
    defined({
      ...trajectoryInput(
        { stage, step: record.step, task: record.taskId, sample },
        {
          run,
          policyVersion,
          queues,
          source: { trajectory: record.id },
          settings: { ...settings, seed: origin.seed, sampling, tools },
        },
      ),
      origin,
      said,
    }),
  );
}
