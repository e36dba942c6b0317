// Checks that each network's configured mnemonic derives the wallets in this database. Until it does, no key is derived
// from it, so nothing is signed, reserved or relayed there.
import { Context } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { byEnv } from "../../domain/networks.ts"

/** Without a layer, nothing is stored that a mnemonic would have to match. */
export const MnemonicMatches = Context.Reference<{ readonly [E in Env]: boolean }>(
  "quittance/chain/MnemonicMatches",
  {
    defaultValue: () => byEnv(() => true)
  }
)
