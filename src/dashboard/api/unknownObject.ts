/** The message for ids that do not exist in this merchant and environment, or are no longer active. */
export const unknownObject = "Not found in this environment, or no longer active. Refresh the list."
