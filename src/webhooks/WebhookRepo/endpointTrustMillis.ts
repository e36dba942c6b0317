/**
 * An endpoint is proven that accepted what this process sent it last or, where that is not known, has
 * accepted within so long and not failed since.
 */
export const endpointTrustMillis = 5 * 60_000
