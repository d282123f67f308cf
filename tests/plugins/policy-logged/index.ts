import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import onnx from "@everturn/policy-onnx";
import type { PolicyPlugin } from "everturn/engine";

/** The ONNX policy, with a line in `generations.log` of the run's folder for every action that it finishes. */
const plugin: PolicyPlugin = {
  initialize: onnx.initialize,
  open: async (folder, config) => {
    const policy = await onnx.open(folder, config);
    const log = join(dirname(dirname(dirname(folder))), "generations.log"); // it is opened in RUN/initial/<attempt>/policy
    return {
      ...policy,
      generate: async (request) => {
        const generation = await policy.generate(request);
        appendFileSync(log, `${request.key.trajectory}/${request.key.turn}\n`);
        return generation;
      },
    };
  },
};

export default plugin;
