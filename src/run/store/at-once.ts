/** How many objects of a store are worked on at once: it may be far away, and each answer takes its time. */
export const objectsAtOnce = 32;
