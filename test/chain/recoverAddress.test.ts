// Compared with viem, signature by signature. SEED repeats a run, RECOVERIES makes it longer.
import { expect, test } from "bun:test"
import { createHash, randomInt } from "node:crypto"
import { Effect } from "effect"
import { concat, type Hex, numberToHex, parseSignature, recoverAddress as recoverByViem, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { recoverAddress } from "../../src/chain/recoverAddress.ts"
import { loadSecp256k1, recoverKey } from "../../src/chain/SignatureRecovery/secp256k1.ts"

const seed = Number(process.env["SEED"] ?? randomInt(2 ** 31))
const count = Number(process.env["RECOVERIES"] ?? 4_000)

/** The orders of the field and of the group (SEC 2, 2.4.1). */
const p = 2n ** 256n - 2n ** 32n - 977n
const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const generatorX = 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n

const word = (value: bigint): Hex => numberToHex(value, { size: 32 })
const edges = [0n, 1n, 2n, n / 2n, n / 2n + 1n, n - 1n, n, n + 1n, p - n, p - 1n, p, 2n ** 256n - 1n].map(
  word
)
const parities = ["00", "01", "1b", "1c"]
const account = privateKeyToAccount(`0x${"7".repeat(64)}`)

interface Case {
  readonly hash: Hex
  readonly signature: Hex
}

/** Case `index` of the seed: most are well-formed; every second r is on the curve. */
const caseOf = async (index: number): Promise<Case> => {
  const bytes = createHash("sha512").update(`${seed} ${index}`).digest()
  const more = createHash("sha512").update(bytes).digest()
  const hash = toHex(more.subarray(0, 32))
  const r = toHex(bytes.subarray(0, 32))
  const s = toHex(bytes.subarray(32))
  const pick = (from: ReadonlyArray<string>, at: number) => from[(more[at] ?? 0) % from.length] ?? ""
  const edge = (at: number): Hex => `0x${pick(edges, at).slice(2)}`
  const v = pick(parities, 40)
  const whole: Hex = `${concat([r, s])}${v}`
  switch ((more[41] ?? 0) % 20) {
    case 0:
      return { hash, signature: `${concat([edge(42), s])}${v}` }
    case 1:
      return { hash, signature: `${concat([r, edge(42)])}${v}` }
    case 2:
      return { hash: edge(43), signature: `${concat([edge(42), edge(44)])}${v}` }
    case 3:
      return { hash: edge(43), signature: whole }
    case 4:
      return { hash, signature: `${concat([r, s])}${toHex(more.subarray(42, 43)).slice(2)}` }
    case 5:
      // From no bytes to one too many, including odd numbers of digits.
      return { hash, signature: `0x${`${whole.slice(2)}${v}`.slice(0, (more[42] ?? 0) % 133)}` }
    case 6:
      return { hash, signature: `${concat([r, s])}${pick(["0", "1", "2", "b", "c", "", "000", "1b00"], 42)}` }
    case 7:
      // R is the generator and s the hash: the result is no key, but the point at infinity.
      return { hash, signature: `${concat([word(generatorX), hash])}${v}` }
    case 8: {
      const signed = await account.sign({ hash })
      const parts = parseSignature(signed)
      // The same signer with the complementary s.
      const high: Hex = `${concat([parts.r, word(n - BigInt(parts.s))])}${parts.yParity === 0 ? "1c" : "1b"}`
      return { hash, signature: (more[42] ?? 0) % 2 === 0 ? signed : high }
    }
    default:
      return { hash, signature: whole }
  }
}

const byViem = ({ hash, signature }: Case) => recoverByViem({ hash, signature }).catch(() => undefined)
const byOurs = ({ hash, signature }: Case): Promise<string | undefined> =>
  Effect.runPromise(recoverAddress(hash, signature))

test(
  `${count} signatures, including bad ones, have the same signer as with viem`,
  async () => {
    console.log(`SEED=${seed}`)
    let accepted = 0
    let signed = 0
    for (let index = 0; index < count; index++) {
      const one = await caseOf(index)
      const [ours, theirs] = [await byOurs(one), await byViem(one)]
      if (ours !== theirs) throw new Error(`${index}: ${ours}, not ${theirs}, of ${JSON.stringify(one)}`)
      if (ours !== undefined) accepted++
      if (ours === account.address) signed++
    }
    console.log(`${accepted} of ${count} have a signer, ${signed} the account's own`)
    expect(accepted).toBeGreaterThan(count / 4)
    expect(count - accepted).toBeGreaterThan(count / 4)
    expect(signed).toBeGreaterThan(count / 40)
  },
  count * 20
)

test("an account's own signature is recovered, with a high s and with each spelling of v", async () => {
  const hash = word(42n)
  const { r, s, yParity } = parseSignature(await account.sign({ hash }))
  const high = word(n - BigInt(s))
  const [v, other] = yParity === 0 ? [27, 28] : [28, 27]
  const spelled = (half: Hex, byte: number) =>
    byOurs({ hash, signature: concat([r, half, toHex(byte, { size: 1 })]) })
  for (const byte of [v, v - 27]) expect(await spelled(s, byte)).toBe(account.address)
  for (const byte of [other, other - 27]) expect(await spelled(high, byte)).toBe(account.address)
  expect(await spelled(s, other)).not.toBe(account.address)
})

test("an impossible signature has no signer: r or s out of range, another v, other lengths", async () => {
  const hash = word(42n)
  const signature = await account.sign({ hash })
  const { r, s } = parseSignature(signature)
  const none = [
    concat([word(0n), s, "0x1b"]),
    concat([word(n), s, "0x1b"]),
    concat([r, word(0n), "0x1b"]),
    concat([r, word(n), "0x1b"]),
    concat([r, s, "0x02"]),
    concat([r, s, "0x1d"]),
    concat([r, s]),
    concat([signature, "0x00"]),
    "0x" as const
  ]
  for (const bad of none) expect(await byOurs({ hash, signature: bad })).toBeUndefined()
  expect(await byOurs({ hash: "0x2a", signature })).toBeUndefined()
})

test("an unrelated failure is no verdict on the signature", async () => {
  await loadSecp256k1()
  const compact = new Uint8Array(64).fill(1)
  expect(recoverKey({ compact: new Uint8Array(64), parity: 0, hash: compact.subarray(32) })).toBeUndefined()
  expect(() => recoverKey({ compact, parity: 0, hash: compact.subarray(33) })).toThrow("Expected Hash")
})
