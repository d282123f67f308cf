import { enginePolicy, type JsonObject, type PolicyPlugin, sglang, vllm } from "everturn/engine";

const [onVllm, onSglang] = [enginePolicy(vllm), enginePolicy(sglang)];

/**
 * A model in Hugging Face's formats. An inference server, vLLM or SGLang, generates its actions, as
 * configured in `server`.
 */
const inferenceServer: PolicyPlugin = {
  ...onVllm,
  traits: (config) => policyOf(config).traits?.(config) ?? { pretrained: true, restrictions: [] },
  open: (folder, config) => policyOf(config).open(folder, config),
};

export default inferenceServer;

function policyOf({ server }: JsonObject): PolicyPlugin {
  return server === "sglang" ? onSglang : onVllm;
}
