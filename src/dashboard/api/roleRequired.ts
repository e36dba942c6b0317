import { RoleRequired } from "../../domain/Errors.ts"
import type { Role } from "../../domain/Role.ts"

/** The refusal, with the roles that may. */
export const roleRequired = (roles: ReadonlyArray<Role>, actual: Role) =>
  new RoleRequired({
    details: [{ path: "session", message: "Another role does this.", expected: roles.join(" or "), actual }]
  })
