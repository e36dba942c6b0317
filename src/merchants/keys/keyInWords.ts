// A key in words, for the audit log, the command line and emails.
import type { KeyKind, Permission } from "../../domain/Merchant.ts"

/** Without an article: `full-access secret key`. */
export const keyInWords = (key: { readonly kind: KeyKind; readonly permission: Permission }): string =>
  key.kind === "secret"
    ? `${key.permission === "manage" ? "full-access" : "read-only"} secret key`
    : `${key.kind} key`
