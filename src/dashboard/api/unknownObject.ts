/** Said of ids that this merchant and environment does not have, or that are already ended. */
export const unknownObject = "Not found in this environment, or no longer active. Refresh the list."
