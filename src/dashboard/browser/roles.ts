// Permissions of the signed-in member, and the names of roles.
import { isTest } from "../../domain/networks.ts"
import type { Role } from "../../domain/Role.ts"
import { useSession } from "./session.ts"

export const roleWords: Readonly<Record<Role, { readonly name: string; readonly about: string }>> = {
  owner: { name: "Owner", about: "Manages everything, including addresses, live keys and members." },
  developer: {
    name: "Developer",
    about:
      "Manages webhooks, alert webhooks, resends, payment links, alerts, test keys and test agents. Can pause and revoke live agents, and withdraw changes of live addresses."
  },
  support: {
    name: "Support",
    about: "Manages refunds, unmatched transfers, resends, payment links and alerts."
  },
  read_only: {
    name: "Read-only",
    about: "Sees payments, books, webhooks, agents, members and the audit log. Changes nothing."
  }
}

/** True if the member has one of these roles; in live, one of `live`. */
export const useMay = (): ((roles: ReadonlyArray<Role>, live?: ReadonlyArray<Role>) => boolean) => {
  const { place, session } = useSession()
  const role = session.merchants.find(({ id }) => id === place.merchantId)?.role
  return (roles, live = roles) => role !== undefined && (isTest(place.env) ? roles : live).includes(role)
}
