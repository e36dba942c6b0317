/**
 * An endpoint is proven if it accepted this process's last delivery. If that is unknown, it must have
 * accepted one within this time and not failed since.
 */
export const endpointTrustMillis = 5 * 60_000
