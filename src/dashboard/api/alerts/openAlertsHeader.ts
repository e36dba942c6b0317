/** In each answer to a member's GET: how many alerts are open. */
export const openAlertsHeader = "open-alerts"
