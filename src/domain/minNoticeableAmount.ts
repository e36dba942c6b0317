/** The least amount that people are notified of, 0.01 USD in atomic USDC; less is spam or address poisoning. */
export const minNoticeableAmount = 10_000n
