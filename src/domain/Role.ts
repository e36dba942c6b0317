// What a member of a merchant may do. Each endpoint of the dashboard names the roles that may call it.
import { Schema } from "effect"

export const Role = Schema.Literals(["owner", "developer", "support", "read_only"])
export type Role = typeof Role.Type
