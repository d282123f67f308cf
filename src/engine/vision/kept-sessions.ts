/** Sessions by key, each opened at its first use. One that can't be opened is tried again at its next use. */
export interface KeptSessions<Session> {
  get(key: string, open: () => Promise<Session>): Promise<Session>;
  close(): Promise<void>;
}

/** Creates sessions, none of them open yet. */
export function keptSessions<Session extends { close(): Promise<void> }>(): KeptSessions<Session> {
  const kept = new Map<string, Promise<Session>>();
  return {
    async get(key, open) {
      const session = kept.get(key) ?? open();
      kept.set(key, session);
      try {
        return await session;
      } catch (error) {
        kept.delete(key);
        throw error;
      }
    },
    async close() {
      for (const session of kept.values()) await (await session).close();
    },
  };
}
