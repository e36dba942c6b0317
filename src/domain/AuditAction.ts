import { Schema } from "effect"

/** What the audit log tells of: changes of where money goes, and of who may change it. */
export const AuditAction = Schema.Literals([
  "receiver.changed",
  "receiver.change_requested",
  "receiver.change_withdrawn",
  "receiver.change_lost",
  "key.created",
  "key.rotated",
  "key.revoked",
  "member.invited",
  "member.invitation_withdrawn",
  "member.joined",
  "member.removed",
  "member.left",
  "member.role_changed",
  "alert_hook.added",
  "alert_hook.removed",
  "operator.granted"
])
export type AuditAction = typeof AuditAction.Type
