// Comparisons that `Math` has only for numbers.

export const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)

export const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right)
