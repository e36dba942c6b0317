// A grant on the wire.
import type { Grant } from "./Faucet.ts"

export const grantView = ({ recipient, usdcAtomic, gasWei, transactionIds }: Grant) => ({
  address: recipient,
  usdcAtomic: usdcAtomic.toString(),
  gasWei: gasWei.toString(),
  transactionIds: [...transactionIds]
})
