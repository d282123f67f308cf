// Rewards, data sets, losses, policies and trainers that break one promise each.

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineLoss, definePolicy, defineTrainer, mul, sub } from "everturn/engine";
import { defineDataset, defineReward, type Task } from "everturn/plugin";
import { defined } from "../../src/base/records/defined.ts";

export const judgesByChance = defineReward({
  score: ({ answer }) => ({ reward: answer === "" ? 0 : Math.random(), success: false }),
});

export const numbersOnly = defineReward({
  score: ({ answer }) => ({ reward: 42 - Number(answer), success: answer === "42" }),
});

export const notPure = defineReward({
  pure: true,
  capabilities: { network: true },
  score: () => ({ reward: 1, success: true }),
});

let scored = 0;
export const growsTired = defineReward({
  score: () => ({ reward: scored++ < 4 ? 1 : 0, success: true }),
});

const row = (ground_truth: string): Task => ({
  data_source: "it",
  prompt: [{ role: "user", content: "?" }],
  reward_model: { ground_truth },
});

export const inAnyOrder = defineDataset({ load: () => [row(randomUUID()), row("2")] });

const born = randomUUID();
export const ofThisProcess = defineDataset({ load: () => [row(born)] });

export const noTasks = defineDataset({ load: () => [{ ...row("1"), prompt: [] }] });

export const dates = defineDataset({ load: () => [{ ...row("1"), at: new Date(0) }] });

export const flat = defineLoss({ loss: ({ advantages }) => mul(advantages, sub(advantages, advantages)) });

const framed = () => ({ text: "6 7", tokens: [6, 7] });

/** A policy that writes one token. */
const policyWith = (own: { routerTies?: number[]; wait?: (maxTokens: number) => Promise<unknown> }) =>
  definePolicy({
    initialize: async (folder) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "config.json"), "{}");
    },
    open: async () => ({
      framePrompt: framed,
      frameObservation: framed,
      frameDemonstration: () => ({ tokens: [6, 7], mask: [0, 1] }),
      isLoaded: () => true,
      load: async () => {},
      generate: async ({ sampling }) => {
        await own.wait?.(sampling.maxTokens);
        const logprobs = [-1];
        const { routerTies } = own;
        return defined({
          tokens: [1],
          logprobs,
          temperedLogprobs: logprobs,
          samplingLogprobs: logprobs,
          text: "1",
          finishReason: "length",
          routerTies,
        });
      },
      close: async () => {},
    }),
  });

/** Goes on for half a minute, whoever aborts it. */
export const deaf = policyWith({
  wait: async (tokens) => tokens > 8 && new Promise((resolve) => setTimeout(resolve, 30_000)),
});

/** Tells a tie without its expert. */
export const choosesNobody = policyWith({ routerTies: [0, 1] });

/** Forgets its steps when it is saved. */
export const forgetsItsSteps = defineTrainer({
  open: async () => {
    let steps = 0;
    const zeros = { approximateKl: 0, entropy: 0, clipFraction: 0, gradientNorm: 0, learningRate: 0 };
    return {
      supervisedStep: async () => ({ loss: 0, gradientNorm: 0, learningRate: 0 }),
      policyGradientStep: async () => ({ ...zeros, policyLoss: ++steps, logprobGap: 0 }),
      save: async (policy, state) => {
        for (const folder of [policy, state]) if (!existsSync(folder)) mkdirSync(folder);
        writeFileSync(join(policy, "config.json"), "{}");
      },
      close: async () => {},
    };
  },
});
