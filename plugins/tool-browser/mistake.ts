/** What the model did wrong, or the page: the model is told the message. */
export class Mistake extends Error {}
