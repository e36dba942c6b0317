/** Transfers below 0.01 USD, in atomic USDC, are spam or spoof an address: nobody is notified of them. */
export const minNoticeableAmount = 10_000n
