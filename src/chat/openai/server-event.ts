/** An event of a stream of server-sent events. */
export interface ServerEvent {
  /** Its name; chat completions' have none. */
  event?: string;
  /** One line. */
  data: string;
}

/** An event as it is sent. */
export function eventText({ event, data }: ServerEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}
