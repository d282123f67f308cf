/** What the model did wrong: it is told the message, and the images are as they were. */
export class Mistake extends Error {}
