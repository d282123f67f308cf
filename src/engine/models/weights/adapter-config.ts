/** The contents of a LoRA adapter's adapter_config.json (arXiv 2106.09685). */
export interface AdapterConfig {
  rank: number;
  /** B A x is multiplied by alpha / rank. */
  alpha: number;
  /** The ends of the adapted modules' names, such as q_proj. */
  targets: readonly string[];
  /** The folder or name of the base weights, as in PEFT. */
  base: string;
}

/** Keys whose values are ignored. They are either read, or don't affect the computation of a trained adapter. */
const free = new Set([
  "peft_type",
  "r",
  "lora_alpha",
  "base_model_name_or_path",
  "target_modules",
  "exclude_modules",
  "auto_mapping",
  "inference_mode",
  "loftq_config",
  "lora_dropout",
  "megatron_core",
  "peft_version",
  "qalora_group_size",
  "revision",
  "runtime_config",
  "task_type",
]);

/**
 * Values of `init_lora_weights` that leave the base unchanged. PEFT's others (PiSSA, OLoRA, CorDA, LoftQ, LoRA-GA)
 * subtract the initial B A from the base, so that their adapter belongs to another model than the one it names.
 */
const additiveStarts: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  true,
  false,
  "gaussian",
  "eva",
  "orthogonal",
]);

/**
 * Parses an adapter_config.json. Returns the reason as a text if it is not supported. Targets are those that it names.
 */
export function parseAdapterConfig(text: string): AdapterConfig | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "adapter_config.json is not JSON";
  }
  if (typeof json !== "object" || json === null) return "adapter_config.json is not a JSON object";
  const fields: Record<string, unknown> = { ...json };
  const { peft_type: kind, r: rank, lora_alpha: alpha, target_modules: targets } = fields;
  if (kind !== "LORA") return `peft_type is ${JSON.stringify(kind)}, not "LORA"`;
  if (typeof rank !== "number" || !Number.isInteger(rank) || rank < 1)
    return "r must be a whole number above 0";
  if (typeof alpha !== "number") return "lora_alpha must be a number";
  const { init_lora_weights: start } = fields;
  if (!additiveStarts.has(start)) {
    return (
      `init_lora_weights ${JSON.stringify(start)} changes the base model as well; convert the adapter with PEFT's ` +
      "save_pretrained(path_initial_model_for_weight_conversion=…), or merge it into its base"
    );
  }
  const refused = Object.entries(fields).find(
    ([key, value]) => key !== "init_lora_weights" && !free.has(key) && !isNeutral(value),
  );
  if (refused) return `${refused[0]} ${JSON.stringify(refused[1])} is not supported`;
  const base = fields.base_model_name_or_path;
  return {
    rank,
    alpha,
    targets: Array.isArray(targets) ? targets.map(String) : [],
    base: typeof base === "string" ? base : "",
  };
}

/** Returns the adapter_config.json of a LoRA adapter for PEFT. */
export function adapterConfigJson({ rank, alpha, targets, base }: AdapterConfig): string {
  const json = {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: base,
    r: rank,
    lora_alpha: alpha,
    target_modules: targets,
    lora_dropout: 0,
    bias: "none",
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: null,
    use_dora: false,
    use_rslora: false,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Whether a value leaves its feature off, even for keys of later PEFT releases. */
function isNeutral(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return !value || value === "none";
}
