// The roles that may do one sort of thing; the browser's pages read them too.
import type { Role } from "./Role.ts"

/** Reading. */
export const everyRole: ReadonlyArray<Role> = ["owner", "developer", "support", "read_only"]
/** Daily work that moves no money and opens nothing: alerts, resending, payment links. */
export const handlers: ReadonlyArray<Role> = ["owner", "developer", "support"]
/** Roles that handle buyers' money: refunds and unexplained transfers. */
export const supporters: ReadonlyArray<Role> = ["owner", "support"]
/** The integration: webhooks, test keys, agents on test. */
export const developers: ReadonlyArray<Role> = ["owner", "developer"]
/** Roles that change receiving addresses, live keys and members. */
export const owners: ReadonlyArray<Role> = ["owner"]
