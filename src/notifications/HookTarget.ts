// Where alerts are posted to, as it is sealed: the address of a chat's hook is a secret itself.
import { Schema } from "effect"

export const HookTarget = Schema.Struct({ url: Schema.String, secret: Schema.String })

/** What a target is sealed for. */
export const hookContext = (hookId: string): string => `alert hook ${hookId}`
