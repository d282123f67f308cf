import type { MaskedTokens } from "../contracts/policy.ts";
import { readDemonstrations } from "../pipeline/demonstrations.ts";
import { toolDefinitions } from "../pipeline/tool-definitions.ts";
import { loadPolicy } from "../plugins/registry.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { inPart } from "../store/tree-part.ts";
import { policyPart } from "../versions/version-parts.ts";

/** The warm start's demonstrations. To frame thousands takes seconds: only those that are asked for become tokens, once. */
export interface FramedDemonstrations {
  readonly length: number;
  /** Those at `indices`, in their order. */
  at(indices: readonly number[]): Promise<MaskedTokens[]>;
}

/** Those of a run; none if it has no warm start. */
export async function framedDemonstrations({ plan, store }: OpenRun): Promise<FramedDemonstrations> {
  const { warmStart, policy: plugin } = plan;
  const rows = warmStart === undefined ? [] : await readDemonstrations(warmStart.demonstrations);
  const framed = new Map<number, MaskedTokens>();

  async function frame(indices: readonly number[]): Promise<void> {
    await inPart(store, policyPart(plan, 0), async (folder) => {
      const policy = await (await loadPolicy(plugin)).open(folder, plugin.config);
      const tools = toolDefinitions(plan);
      try {
        for (const index of indices) {
          const row = rows[index];
          if (row !== undefined) framed.set(index, policy.frameDemonstration(row.messages, tools));
        }
      } finally {
        await policy.close();
      }
    });
  }

  return {
    length: rows.length,
    at: async (indices) => {
      const missing = [...new Set(indices)].filter((index) => !framed.has(index));
      if (missing.length > 0) await frame(missing);
      return indices.flatMap((index) => framed.get(index) ?? []);
    },
  };
}
