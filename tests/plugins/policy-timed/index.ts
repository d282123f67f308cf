import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import onnx from "@everturn/policy-onnx";
import type { GenerationRequest, PolicyPlugin } from "everturn/engine";

/** The ONNX policy with a log of what it generates and when, slowed down if the pipeline says so. */
const plugin: PolicyPlugin = {
  initialize: onnx.initialize,
  traits: (config) => onnx.traits?.(config) ?? { pretrained: false, restrictions: [] },
  open: async (folder, { log, pause, ...config }) => {
    const policy = await onnx.open(folder, config);
    const write = (event: "start" | "finish" | "stop", { key }: GenerationRequest, tokens: number) => {
      const line = {
        event,
        seed: key.seed,
        key: `${key.trajectory}/${key.turn}`,
        time: Date.now(),
        pid: process.pid,
        tokens,
      };
      appendFileSync(String(log), `${JSON.stringify(line)}\n`);
    };
    return {
      ...policy,
      generate: async (request) => {
        write("start", request, 0);
        try {
          const generation = await policy.generate(request);
          await sleep(
            Number(pause),
            undefined,
            request.signal === undefined ? {} : { signal: request.signal },
          );
          write("finish", request, generation.tokens.length);
          return generation;
        } catch (error) {
          write("stop", request, 0);
          throw error;
        }
      },
    };
  },
};

export default plugin;
