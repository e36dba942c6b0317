// A grant as the API returns it.
import type { Grant } from "./Faucet/FaucetService.ts"

export const grantView = ({ recipient, usdcAtomic, gasWei, transactionIds }: Grant) => ({
  address: recipient,
  usdcAtomic: usdcAtomic.toString(),
  gasWei: gasWei.toString(),
  transactionIds: [...transactionIds]
})
