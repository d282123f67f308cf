import type { ControlGroup, ControlGroups } from "../../control-group.ts";
import type { SandboxLimits } from "../../sandbox.ts";
import type { ClientEnd } from "../run-client.ts";
import type { Changes, ExecOptions, Pressure, RunningContainer } from "../running-container.ts";

interface Options {
  /** Undefined if memory and processes can't be limited. */
  groups: ControlGroups | undefined;
  limits: SandboxLimits;
  files: { changes(): Promise<Changes>; remove(): Promise<void> };
  /** Runs a command in processes of the group. */
  run(command: string, options: ExecOptions, group: ControlGroup | undefined): Promise<ClientEnd>;
}

/** A container of files alone: each command has processes of its own, and a control group of its own. */
export function filesContainer({ groups, limits, files, run }: Options): RunningContainer {
  let group: ControlGroup | undefined;
  /** Of the groups that are gone. */
  let past: Pressure = { memory: 0, processes: 0 };

  function pressure(): Pressure {
    return {
      memory: past.memory + (group?.kills() ?? 0),
      processes: past.processes + (group?.refusals() ?? 0),
    };
  }

  async function removeGroup(): Promise<void> {
    past = pressure();
    const old = group;
    group = undefined;
    await old?.remove();
  }

  return {
    handle: null, // its processes end with their parent
    exec: async (command, options) => {
      await removeGroup();
      group = groups?.make({ ...limits, disk: 0 }); // its files are not in memory
      return run(command, options, group);
    },
    stop: undefined,
    tidy: () => {},
    over: () => undefined,
    pressure: async () => pressure(),
    changes: files.changes,
    end: async () => {
      await removeGroup().finally(files.remove);
    },
  };
}

/** Sentences about the limits of such containers. */
export function limitsOf(groups: ControlGroups | undefined): string[] {
  return [
    groups === undefined
      ? "memory and processes are NOT limited, because no control group can be made here."
      : "control groups bound memory and processes.",
    "Files are not limited. A hole in the kernel is one in this sandbox.",
  ];
}
