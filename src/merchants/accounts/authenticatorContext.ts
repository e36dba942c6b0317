/** What the secret of a person's authenticator app is sealed for. */
export const authenticatorContext = (userId: string): string => `authenticator ${userId}`
