/** Transfers of less than 0.01 USD, in atomic USDC, are sent to be seen or to spoof an address: nobody is notified. */
export const dustBelow = 10_000n
