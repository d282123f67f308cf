import { drawTasks } from "../../activities/draw-tasks.ts";
import type { Trajectory } from "../../src/contracts/generated/trajectory.ts";
import type { Message } from "../../src/contracts/message.ts";
import type { TrainingTrajectory } from "../../src/contracts/trainer.ts";
import { toolDefinitions } from "../../src/plan/pipeline/resolve/tool-definitions.ts";
import { runTasks } from "../../src/plan/tasks/run-tasks.ts";
import { loadPolicy, loadTrainer } from "../../src/plugin/registry/registry.ts";
import { trainingTrajectory } from "../../src/run/projections/training-trajectory.ts";
import { trajectoryReader } from "../../src/run/trajectory/reader.ts";
import { readRows } from "../../src/run/trajectory/segments.ts";
import { readTrajectories } from "../../src/run/trajectory/trajectory-files.ts";
import { trajectoryOf } from "../../src/run/trajectory/trajectory-of.ts";
import { folderOf } from "../../tests/support/versions.ts";
import type { OwnRun } from "./own-run.ts";

/** The run's policy and trainer in this process, without Temporal: seconds of a step's generation and training alone. */
export interface Engines {
  /** Generates the turns of a step's trajectories again, tokens and all, as in the run; tools' answers are read. */
  generate(step: number, policyVersion: number): Promise<number>;
  /** Trains on what the step sampled. */
  train(step: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens the policy and the trainer at the version that the run started from. */
export async function openEngines(own: OwnRun): Promise<Engines> {
  const { plan, store, id: run } = own;
  const initial = await folderOf(own, 0);
  const policy = await (await loadPolicy(plan.policy)).open(initial, plan.policy.config);
  const folders = { initial, policy: own.first, reference: own.first };
  const plugin = await loadTrainer(plan.trainer);
  const trainer = await plugin.open(folders, plan.trainer.config, plan.seed, plan.trainer.loss);
  const definitions = toolDefinitions(plan);
  const draw = drawTasks(async () => own, runTasks());
  const { temperature, maxActionTokens } = plan.rollout;
  const sampling = { temperature, maxTokens: maxActionTokens };

  async function again(record: Trajectory, version: number): Promise<void> {
    const trajectory = `${record.stage}/${record.taskId}/${record.sample}`;
    const prompt = policy.framePrompt(record.task.prompt, definitions);
    const tokens = [...prompt.tokens];
    for (const [index, { toolCalls }] of record.turns.entries()) {
      const key = { seed: plan.seed, trajectory, turn: index + 1 };
      const action = await policy.generate({ tokens: [...tokens], version, sampling, key });
      const messages = toolCalls.map(({ tool, observation }): Message => {
        return { role: "tool", name: tool, content: observation };
      });
      tokens.push(...action.tokens, ...(messages.length > 0 ? policy.frameObservation(messages).tokens : []));
    }
  }

  async function records(step: number): Promise<Trajectory[]> {
    const stage = `step-${String(step).padStart(4, "0")}`;
    const tasks = new Set(await draw({ run, step }));
    const found = await readTrajectories(store, await trajectoryReader({ store }).list({ stage }));
    return found.filter(({ taskId }) => tasks.has(taskId));
  }

  return {
    generate: async (step, version) => {
      const made = await records(step);
      await policy.load(version, await folderOf(own, version));
      return timed(() => Promise.all(made.map((record) => again(record, version))));
    },
    train: async (step) => {
      const trajectories: TrainingTrajectory[] = [];
      for (const { id, taskId: group, reward, head } of await records(step)) {
        trajectories.push(
          trainingTrajectory({ id, group, reward }, await readRows(own.store, trajectoryOf(id), head), 1),
        );
      }
      return timed(() => trainer.policyGradientStep(trajectories, { temperature: 1 }));
    },
    close: async () => {
      await policy.close();
      await trainer.close();
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
