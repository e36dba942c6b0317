/** Said of ids that this merchant and environment does not have, or that are already ended. */
export const unknownObject =
  "This merchant has no such object in this environment, or it has ended. Look at the list again."
