// The actions in the audit log, as stored.
import { Schema } from "effect"

/** Changes that the audit log records: to receiving addresses, settlement limits, keys, members and more. */
export const AuditAction = Schema.Literals([
  "merchant.created",
  "receiver.changed",
  "receiver.change_requested",
  "receiver.change_withdrawn",
  "receiver.change_lost",
  "settlement_limits.changed",
  "key.created",
  "key.rotated",
  "key.revoked",
  "member.invited",
  "member.invitation_withdrawn",
  "member.joined",
  "member.removed",
  "member.left",
  "member.role_changed",
  "member.reset_link_created",
  "member.authenticator_removed",
  "agent.created",
  "agent.changed",
  "agent.revoked",
  "alert_hook.added",
  "alert_hook.removed",
  "operator.granted"
])
export type AuditAction = typeof AuditAction.Type
