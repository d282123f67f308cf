/** What the model did wrong: it is told the message, and the tree is as it was. */
export class Mistake extends Error {}
