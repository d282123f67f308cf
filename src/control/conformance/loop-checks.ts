import { defined } from "../../base/records/defined.ts";
import { isObject, type JsonValue } from "../../contracts/json.ts";
import type { ResolvedPlugin } from "../../contracts/plan.ts";
import { workflowBundle } from "../temporal/workflow-bundle.ts";
import type { LoopCase, PluginCheckOptions } from "./cases.ts";
import { elsewhere } from "./elsewhere.ts";
import { Broken, brokenBy, type PluginCheck, pluginCheck } from "./promise.ts";
import { oddTexts } from "./sample-values.ts";
import { shortened } from "./tool-subject.ts";

const call = '<tool_call>{"name": "calculator", "arguments": {"expression": "6 * 7"}}</tool_call>';

const usual: readonly LoopCase[] = [{ actions: [call, "It is 42.", "42", "42"] }];

/** The promises of an agent loop. */
export function loopChecks(plugin: ResolvedPlugin, options: PluginCheckOptions): PluginCheck[] {
  const own = (options.cases ?? []).filter((one): one is LoopCase => "actions" in one);
  const cases = own.length > 0 ? own : usual;
  const { name, entry } = plugin;
  const taken = async (actions: string[], from: { turn?: number; state?: JsonValue } = {}) => {
    const turns = await elsewhere(plugin, { actions, turn: from.turn ?? 1, state: from.state ?? {} });
    return Array.isArray(turns) ? turns : [];
  };
  return [
    pluginCheck(
      name,
      "workflow code",
      "it can be bundled into a run's workflow code",
      async () => {
        await workflowBundle([{ name, workflow: entry }], false).catch((error: unknown) => {
          const { message, cause } = brokenBy("bundling failed", error);
          const advice = "Import no Node modules: leave files, processes and network to a tool.";
          throw new Broken(message, advice, { cause });
        });
      },
      true,
    ),
    pluginCheck(
      name,
      "turns",
      "each turn generates at most once, returns its outcome, and uses only what workflow code provides",
      async () => {
        for (const { actions, outcome } of cases) {
          const last = (await taken(actions)).at(-1);
          const ended = isObject(last) ? last.outcome : undefined;
          if (outcome === undefined || ended === outcome) continue;
          throw new Broken(
            `the actions ${shortened(JSON.stringify(actions))} ended with ${ended} instead of ${outcome}`,
            "Correct the loop, or the case.",
          );
        }
      },
      true,
    ),
    pluginCheck(
      name,
      "odd values",
      "it handles everything that the model writes: nothing, a megabyte, control tokens, half a call",
      async () => {
        for (const text of [...oddTexts, call.slice(0, -20), call.replace("42", "").repeat(3)]) {
          await taken([text]).catch((error: unknown) => {
            const { message } = brokenBy(`the action ${shortened(JSON.stringify(text))} failed`, error);
            throw new Broken(
              `${message}`,
              "Answer unreadable actions with `reject`, or end the trajectory; never throw.",
            );
          });
        }
      },
    ),
    pluginCheck(name, "replay", "the same history leads to the same decisions", async () => {
      for (const { actions } of cases)
        differ(
          await taken(actions),
          await taken(actions),
          "replayed from its history",
          "Decide only from the context: no clock, and no randomness from libraries.",
        );
    }),
    pluginCheck(
      name,
      "death of a worker",
      "if the worker dies between two turns, the state is all that the next turn needs",
      async () => {
        for (const { actions } of cases) {
          const whole = await taken(actions);
          for (const [index, before] of whole.slice(0, -1).entries()) {
            const state = isObject(before) ? before.state : {};
            const rest = await taken(actions, defined({ turn: index + 2, state }));
            differ(
              whole.slice(index + 1),
              rest,
              `after the worker died with turn ${index + 1}`,
              "Keep everything that the next turn needs in `state`, and nothing in the module.",
            );
          }
        }
      },
    ),
  ];
}

function differ(before: JsonValue[], after: JsonValue[], when: string, advice: string): void {
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [one, other] = [
      JSON.stringify(before[index]) ?? "no turn",
      JSON.stringify(after[index]) ?? "no turn",
    ];
    if (one !== other)
      throw new Broken(`${when}, it decided ${shortened(other)} instead of ${shortened(one)}`, advice);
  }
}
