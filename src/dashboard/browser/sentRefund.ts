// Stores the transaction that a wallet in this browser returned for a refund, until the service knows it: a user who
// opens the refund again is not prompted to send it again.
const prefix = "quittance-refund:"
const retentionMillis = 30 * 24 * 3_600_000

const sweep = (now: number) => {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(prefix)) continue
    if (Number(localStorage.getItem(key)?.split(" ")[1]) < now - retentionMillis) localStorage.removeItem(key)
  }
}

export const sentRefund = {
  get: (refundId: string): string | undefined => {
    try {
      return localStorage.getItem(prefix + refundId)?.split(" ")[0]
    } catch {
      return undefined
    }
  },
  set: (refundId: string, transactionId: string): void => {
    try {
      const now = Date.now()
      sweep(now)
      localStorage.setItem(prefix + refundId, `${transactionId} ${now}`)
    } catch {
      // Without storage, it is known while the dialog is open.
    }
  },
  forget: (refundId: string): void => {
    try {
      localStorage.removeItem(prefix + refundId)
    } catch {
      // Nothing was stored.
    }
  }
}

/**
 * Lets only one wallet request for a refund run at a time, in any dialog or tab. Returns false without a request
 * while another one runs. Plain http has no locks.
 */
export const oneRequestAtATime = (refundId: string, ask: () => Promise<void>): Promise<boolean> =>
  isSecureContext
    ? navigator.locks.request(prefix + refundId, { ifAvailable: true }, async (lock) => {
        if (lock === null) return false
        await ask()
        return true
      })
    : ask().then(() => true)
