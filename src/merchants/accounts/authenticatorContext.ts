/** The encryption context of an authenticator app's secret. */
export const authenticatorContext = (userId: string): string => `authenticator ${userId}`
