// The command's merchant. Fails unless it exists.
import { Effect } from "effect"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { CommandFailed } from "./CommandFailed.ts"

export const requireMerchant = Effect.fnUntraced(function* (id: string) {
  const merchants = yield* (yield* KeyAuth).listMerchants
  const merchant = merchants.find((candidate) => candidate.id === id)
  return merchant === undefined
    ? yield* new CommandFailed({ message: `No merchant ${id}. List them: bun run cli merchant list` })
    : merchant
})
