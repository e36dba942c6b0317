/** The code of a system error, for example `ENOENT`; undefined for any other error. */
export const systemErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined
