/** Sessions that end together. */
export interface OpenSessions<Options, Session> {
  open(options: Options): Promise<Session>;
  /** Closes all that are still open. */
  close(): Promise<void>;
}

/** Remembers the sessions that `open` makes until they are closed. */
export function openSessions<Options, Session extends { close(): Promise<void> | void }>(
  open: (options: Options) => Promise<Session> | Session,
): OpenSessions<Options, Session> {
  const sessions = new Set<Session>();
  return {
    open: async (options) => {
      const session = await open(options);
      sessions.add(session);
      const close = async () => {
        sessions.delete(session);
        await session.close();
      };
      return { ...session, close };
    },
    close: async () => void (await Promise.all([...sessions].map((session) => session.close()))),
  };
}
