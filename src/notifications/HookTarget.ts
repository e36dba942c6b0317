// The encrypted target of an alert webhook: a chat hook's URL is itself a secret.
import { Schema } from "effect"

export const HookTarget = Schema.Struct({ url: Schema.String, secret: Schema.String })

/** The encryption context of a hook's target. */
export const hookContext = (hookId: string): string => `alert hook ${hookId}`
