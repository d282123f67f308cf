import { type PluginHostProcess, startPluginHost } from "./host-process.ts";
import type { StartThread } from "./running-thread.ts";

/** A worker's plugin hosts: the processes that run its plugins' threads. */
export interface PluginHosts {
  /** Starts a plugin's thread in its host. */
  start: StartThread;
  close(): Promise<void>;
}

/** Learns the process id of each host that starts or ends. If `started` throws, the host ends at once. */
export interface PluginHostObserver {
  started(pid: number): void;
  ended(pid: number): void;
}

/**
 * Runs all plugins in one host. Each plugin that had open calls when a host ended gets a host of its own, so
 * that a plugin that crashes its process soon crashes only its own. Hosts start on demand.
 */
export function pluginHosts(
  { started, ended }: PluginHostObserver,
  log: (text: string) => void,
): PluginHosts {
  const apart = new Set<string>();
  const hosts = new Map<string, PluginHostProcess>();

  function hostOf(plugin: string): PluginHostProcess {
    const name = apart.has(plugin) ? plugin : "";
    const running = hosts.get(name);
    if (running !== undefined) return running;
    const host = startPluginHost((reason, busy) => {
      if (hosts.get(name) === host) hosts.delete(name);
      if (host.pid !== undefined) ended(host.pid);
      if (isClosing) return;
      for (const one of busy) apart.add(one);
      const during = busy.length === 0 ? "" : ` during a call of ${busy.join(", ")}`;
      log(`a plugin host ended (${reason})${during}. The next call starts another one.`);
    });
    try {
      if (host.pid !== undefined) started(host.pid);
    } catch (error) {
      void host.close(); // nothing else would find and end it
      throw error;
    }
    hosts.set(name, host);
    return host;
  }

  let isClosing = false;
  return {
    start: async (options, onEnd) => hostOf(options.plugin.name).start(options, onEnd),
    close: async () => {
      isClosing = true;
      await Promise.all([...hosts.values()].map((host) => host.close()));
    },
  };
}
