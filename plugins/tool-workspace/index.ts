import type { JsonObject, JsonValue, ToolPlugin, ToolResponse } from "everturn/plugin";
import { runCommand } from "./command.ts";
import { difference } from "./difference.ts";
import { create, insert, replace, view } from "./edits.ts";
import { Mistake } from "./mistake.ts";
import { find, search } from "./search.ts";
import { checkSource, taskTree } from "./source.ts";
import { shown, Tree, type TreeLimits } from "./tree.ts";

/** A trajectory's files, as the task provided them and in their current state. */
interface Workspace {
  before: Tree;
  tree: Tree;
}

/**
 * Gives each trajectory a file tree. Its state is its bytes, saved after each call, so that it can continue
 * anywhere without repeating a command.
 */
const workspace: ToolPlugin<Workspace> = {
  async create({ task, config }) {
    const before = await taskTree(task, config);
    return { before, tree: new Tree(before.entries(), limitsOf(config)) };
  },

  async refusal(task, config) {
    try {
      await checkSource(task, config);
      return undefined;
    } catch (error) {
      if (error instanceof Mistake) return shown(error.message);
      throw error;
    }
  },

  async execute(given, execution, state) {
    try {
      if (execution.function !== "run") return { text: shown(done(execution.function, given, state)) };
      const { tree, response } = await runCommand(
        state.tree,
        String(given.command),
        limitsOf(execution.config),
        execution,
      );
      state.tree = tree;
      return response;
    } catch (error) {
      if (error instanceof Mistake) return mistaken(error);
      throw error;
    }
  },

  release() {},

  snapshot({ tree }) {
    const files = tree.entries().map(([path, content]) => [path, Buffer.from(content).toString("base64")]);
    return Buffer.from(JSON.stringify(files));
  },

  async restore(snapshot, { task, config }) {
    const files: [string, string][] = JSON.parse(Buffer.from(snapshot).toString());
    const contents = files.map(([path, content]): [string, Uint8Array] => [
      path,
      Buffer.from(content, "base64"),
    ]);
    return { before: await taskTree(task, config), tree: new Tree(contents, limitsOf(config)) };
  },
};

export default workspace;

function done(name: string, given: JsonObject, { before, tree }: Workspace): string {
  const path = String(given.path);
  const text = String(given.text);
  if (name === "view") return view(tree, path, numberOf(given.first), numberOf(given.last));
  if (name === "create") return create(tree, path, text);
  if (name === "replace") return replace(tree, path, String(given.old), text);
  if (name === "insert") return insert(tree, path, Number(given.after), text);
  if (name === "find") return find(tree, String(given.pattern ?? ""));
  if (name === "search") return search(tree, String(given.pattern), String(given.below ?? ""));
  if (name === "diff") return difference(before, tree);
  throw new Error(`there is no function ${name}`);
}

function mistaken({ message }: Mistake): ToolResponse {
  return { text: shown(`error: ${message}`), error: true };
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function limitsOf({ files, bytes }: JsonObject): TreeLimits {
  return { files: Number(files), bytes: Number(bytes) };
}
