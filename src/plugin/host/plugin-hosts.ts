import { type HostProcess, startHost } from "./host-process.ts";
import type { StartThread } from "./running-thread.ts";

/** The plugin hosts of a worker: the processes in which its plugins' threads run. */
export interface PluginHosts {
  /** Starts a plugin's thread in its host. */
  start: StartThread;
  close(): Promise<void>;
}

/** Told of each host that was started and that has ended, by its process. Where `started` throws, it is ended at once. */
export interface HostObserver {
  started(pid: number): void;
  ended(pid: number): void;
}

/**
 * One host for all plugins, and one of its own for each that had calls under way when a host ended: what brings its process down
 * soon brings down only its own. Hosts are started when they are needed.
 */
export function pluginHosts({ started, ended }: HostObserver, log: (text: string) => void): PluginHosts {
  const apart = new Set<string>();
  const hosts = new Map<string, HostProcess>();

  function hostOf(plugin: string): HostProcess {
    const name = apart.has(plugin) ? plugin : "";
    const running = hosts.get(name);
    if (running !== undefined) return running;
    const host = startHost((reason, busy) => {
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
      void host.close(); // nobody would find it
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
