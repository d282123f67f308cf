/** An event in a stream of server-sent events. */
export interface ServerEvent {
  /** Its name. Events of chat completions have none. */
  event?: string;
  /** One line. */
  data: string;
}

/** The text of an event on the wire. */
export function eventText({ event, data }: ServerEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}
