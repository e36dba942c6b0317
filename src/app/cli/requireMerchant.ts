// Fails unless the command's merchant exists.
import { Effect } from "effect"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { CommandFailed } from "./CommandFailed.ts"

export const requireMerchant = Effect.fnUntraced(function* (id: string) {
  const merchants = yield* (yield* KeyAuth).listMerchants
  if (!merchants.some((merchant) => merchant.id === id)) {
    return yield* new CommandFailed({ message: `No merchant ${id}. List them: bun run cli merchant list` })
  }
})
