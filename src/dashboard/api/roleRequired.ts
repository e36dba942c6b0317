import { RoleRequired } from "../../domain/Errors.ts"
import type { Role } from "../../domain/Role.ts"

/** The refusal, with the roles that are allowed. */
export const roleRequired = (roles: ReadonlyArray<Role>, actual: Role) =>
  new RoleRequired({
    details: [{ path: "session", message: "Requires another role.", expected: roles.join(" or "), actual }]
  })
