// Sets of roles, each permitted to do one kind of work; the browser's pages read them too.
import type { Role } from "./Role.ts"

/** Roles that may read. */
export const everyRole: ReadonlyArray<Role> = ["owner", "developer", "support", "read_only"]
/** Roles for daily work that moves no money and grants no access: alerts, resending, payment links. */
export const dailyWorkRoles: ReadonlyArray<Role> = ["owner", "developer", "support"]
/** Roles that handle buyers' money: refunds and unmatched transfers. */
export const moneyRoles: ReadonlyArray<Role> = ["owner", "support"]
/**
 * Roles for the integration: webhooks, alert webhooks, test keys and test agents. In live they pause and revoke agents,
 * and withdraw changes of addresses.
 */
export const integrationRoles: ReadonlyArray<Role> = ["owner", "developer"]
/** Roles that change receiving addresses, settlement limits, live keys and agents, members, profile, branding and time zone. */
export const ownerRoles: ReadonlyArray<Role> = ["owner"]
