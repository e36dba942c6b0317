/** The header with the number of open alerts, in each response to a member's GET. */
export const openAlertsHeader = "open-alerts"
