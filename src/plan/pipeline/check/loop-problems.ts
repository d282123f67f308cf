import { suggestion } from "../../../base/validation/nearest.ts";
import { child, type Pointer, pathText, valueAt } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import { toolFunctions } from "../../../plugin/registry/tool-functions.ts";
import { loopPlaces } from "../read/slots.ts";
import { wrongCombination } from "../read/wrong-combination.ts";

/**
 * Returns tools of loops that the pipeline does not have, and different loops with the same name, by which a
 * trajectory finds its loop.
 */
export function loopProblems(
  document: SourceDocument,
  plugins: ReadonlyMap<Pointer, ResolvedPlugin>,
): Problem[] {
  const functions = [...plugins.values()].flatMap((plugin) => toolFunctions(plugin).map(({ name }) => name));
  const owners = new Map<string, { pointer: Pointer; entry: string }>();
  return ["/loop", ...loopPlaces(document.value)].flatMap((pointer) => {
    const at = (inner: Pointer, reason: string, hint: string) =>
      wrongCombination(placeOf(document, inner, "value"), inner, reason, hint);
    const tools = valueAt(document.value, child(pointer, "tools"));
    const strange = (Array.isArray(tools) ? tools : []).flatMap((tool, index) => {
      if (typeof tool !== "string" || functions.includes(tool)) return [];
      const hint =
        suggestion(tool, functions, "The functions of the tools are") || "The pipeline has no tools.";
      return [at(child(child(pointer, "tools"), index), `is “${tool}”, which no tool is called`, hint)];
    });
    const plugin = plugins.get(pointer);
    if (plugin === undefined) return strange;
    const { name, entry } = plugin;
    const other = owners.get(name) ?? { pointer, entry };
    owners.set(name, other);
    if (other.entry === entry) return strange;
    const clash = `is called “${name}”, as another loop at ${pathText(other.pointer)} is`;
    return [
      ...strange,
      at(
        child(pointer, "plugin"),
        clash,
        "Give it a name of its own: `name` in defineLoop, or in its manifest.",
      ),
    ];
  });
}
