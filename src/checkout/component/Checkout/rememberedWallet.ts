// Remembers in this browser which wallet the buyer chose.
const key = "quittance-checkout-wallet"

/** The buyer's wallet, by its reverse domain name. */
export const rememberedWallet = {
  get: (): string | null => {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  },
  set: (rdns: string | undefined) => {
    try {
      if (rdns === undefined) localStorage.removeItem(key)
      else localStorage.setItem(key, rdns)
    } catch {
      // Without storage, the wallet is chosen again after a reload.
    }
  }
}
