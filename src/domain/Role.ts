// Roles of a merchant's members. Each dashboard endpoint lists the roles that may call it.
import { Schema } from "effect"

export const Role = Schema.Literals(["owner", "developer", "support", "read_only"])
export type Role = typeof Role.Type
