// The plan of all lives, drawn from a seed: the same seed gives the same lives, wallets and blocks to replace.
import { isHex, keccak256, toHex } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { settlementLevelsOf } from "../../../src/domain/networks.ts"
import { Draw } from "../../simulation/Draw.ts"
import { moneyNetwork } from "../../support/moneyNetwork.ts"

const kinds = [
  ["reported", 18],
  ["announced", 12],
  ["refunded", 14],
  ["relayed", 8],
  ["twice", 7],
  ["wrong amount", 7],
  ["equal pair", 7],
  ["relayed elsewhere", 6],
  ["x402", 6],
  ["tab closed", 5],
  ["another wallet", 4],
  ["another receiver", 4],
  ["never paid", 4],
  ["another's transaction", 4],
  ["dust", 2],
  ["another token", moneyNetwork.otherTokens.length > 0 ? 2 : 0]
] as const

export type LifeKind = (typeof kinds)[number][0]

export interface Life {
  readonly kind: LifeKind
  /** The index of its merchant; the other merchant is the stranger. */
  readonly merchant: 0 | 1
  /** Atomic USDC. */
  readonly amount: bigint
  /** The paying wallet, and another one. */
  readonly wallets: readonly [PrivateKeyAccount, PrivateKeyAccount]
  /** The random decisions of this life's people. */
  readonly draw: Draw
}

const accountOf = (name: string): PrivateKeyAccount => {
  const key = keccak256(toHex(name))
  if (!isHex(key)) throw new Error("not a key")
  return privateKeyToAccount(key)
}

/** The largest amount of each level, in atomic USDC. */
const limits = settlementLevelsOf(moneyNetwork).map(({ upTo }) => upTo ?? 50_000_000_000n)

const amountOf = (draw: Draw): bigint => {
  const level = draw.chance(0.6) ? 0 : draw.below(limits.length)
  const [least = 10_000n, most = 50_000_000_000n] = [level === 0 ? 10_000n : limits[level - 1], limits[level]]
  const millionths = BigInt(draw.below(1_000_000))
  // Small amounts are as likely as large ones.
  const share = draw.chance(0.5) ? millionths : (millionths * millionths) / 1_000_000n
  const amount = least + ((most - least) * share) / 1_000_000n
  // Most are whole cents.
  return draw.chance(0.3) ? amount : amount - (amount % 10_000n)
}

const kindOf = (draw: Draw): LifeKind => {
  let left = draw.below(kinds.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [kind, weight] of kinds) {
    if (left < weight) return kind
    left -= weight
  }
  return "reported"
}

export const planOf = (seed: string, count: number) => {
  const world = new Draw(seed)
  return {
    draw: world,
    receivers: [accountOf(`${seed} receiver 0`), accountOf(`${seed} receiver 1`)] as const,
    lives: Array.from({ length: count }, (_, index): Life => {
      const draw = world.of(`life ${index}`)
      return {
        // The first lives are of each kind once.
        kind: kinds.filter(([, weight]) => weight > 0)[index]?.[0] ?? kindOf(draw),
        merchant: draw.chance(0.5) ? 0 : 1,
        amount: amountOf(draw),
        wallets: [accountOf(`${seed} ${index} own`), accountOf(`${seed} ${index} other`)],
        draw
      }
    })
  }
}

export type Plan = ReturnType<typeof planOf>
