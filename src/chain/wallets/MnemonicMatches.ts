// For each network: true if the configured mnemonic derives the wallets in this database, as
// app/secrets/layerCheckedSecrets.ts decides. While false, no key is derived, so nothing is signed, reserved or relayed
// there.
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
