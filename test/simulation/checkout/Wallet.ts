// The buyer's wallet, as an EIP-1193 provider over one of the nodes. Its owner approves, declines, takes their time,
// and leaves prompts open; what was approved is sent although the page has gone.
import type { Eip1193Provider } from "../../../src/checkout/component/wallets.ts"
import type { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { Ledger } from "../chain/Ledger.ts"
import type { SimulatedNode } from "../chain/SimulatedNode.ts"
import type { Draw } from "../Draw.ts"
import type { World } from "../World.ts"

const problem = (code: number, message: string) => Object.assign(new Error(message), { code })

/** Signs what the page asks for, EIP-712 as JSON. */
export type SignTerms = (json: string) => Promise<string>

export interface Transfer {
  readonly to: Address
  readonly amount: bigint
}

export class Wallet {
  readonly address: Address
  readonly provider: Eip1193Provider
  /** Prompts for money that nobody has decided about. */
  prompts = 0
  readonly #world: World
  readonly #ledger: Ledger
  readonly #nodes: ReadonlyArray<SimulatedNode>
  readonly #draw: Draw
  readonly #sent: (hash: TransactionHash, asAsked: boolean) => void
  readonly #transfer: Transfer
  readonly #signTerms: SignTerms | undefined
  readonly #takesNonce: boolean

  constructor(around: {
    /** Whether it sends with the nonce that the page gives it, or with the next of its own. */
    readonly takesNonce: boolean
    readonly address: Address
    readonly world: World
    readonly ledger: Ledger
    readonly nodes: ReadonlyArray<SimulatedNode>
    readonly draw: Draw
    /** What the page asks for. */
    readonly transfer: Transfer
    /** `asAsked`: with the nonce that the page gave. */
    readonly sent: (hash: TransactionHash, asAsked: boolean) => void
    /** Undefined for a wallet that does not sign typed data. */
    readonly signTerms: SignTerms | undefined
  }) {
    this.#takesNonce = around.takesNonce
    this.address = around.address
    this.#world = around.world
    this.#ledger = around.ledger
    this.#nodes = around.nodes
    this.#draw = around.draw
    this.#sent = around.sent
    this.#transfer = around.transfer
    this.#signTerms = around.signTerms
    this.provider = { request: ({ method, params = [] }) => this.#answer(method, params) }
  }

  #wait(millis: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.after(millis, this.#world.outside, () => resolve())
    })
  }

  async #answer(method: string, params: ReadonlyArray<unknown>): Promise<unknown> {
    await this.#wait(this.#draw.between(1, 120))
    switch (method) {
      case "eth_requestAccounts":
      case "eth_accounts":
        return [this.address]
      case "personal_sign":
        await this.#wait(this.#draw.between(500, 5_000))
        if (this.#draw.chance(0.05)) throw problem(4001, "User rejected the request.")
        return `0x${"5e".repeat(65)}`
      case "eth_signTypedData_v4":
        if (this.#signTerms === undefined) throw problem(4200, "no such method")
        await this.#decide()
        return this.#signTerms(String(params[1]))
      case "eth_sendTransaction":
        return this.#send(Object(params[0]))
      case "wallet_getCapabilities":
        throw problem(4200, "no such method")
      default: {
        const node = this.#nodes[this.#draw.below(this.#nodes.length)]
        if (node === undefined || node.down) throw problem(-32603, "the node does not answer")
        return node.answer(method, params)
      }
    }
  }

  /** The owner approves, or declines. */
  async #decide(): Promise<void> {
    this.prompts++
    // Some have to find their device first.
    const slow = this.#draw.chance(0.12)
    await this.#wait(slow ? this.#draw.between(20_000, 90_000) : this.#draw.between(300, 6_000))
    this.prompts--
    if (this.#draw.chance(0.1)) throw problem(4001, "User rejected the request.")
  }

  async #send({ nonce }: Record<string, unknown>): Promise<unknown> {
    await this.#decide()
    const used = this.#takesNonce ? Number(nonce) : this.#ledger.pendingNonce(this.address)
    const { fork, pool } = this.#ledger
    if (used < fork.nonceAt(this.address, fork.height)) throw problem(-32000, "nonce too low")
    if (pool.some((one) => one.sender === this.address && one.nonce === used))
      throw problem(-32000, "replacement transaction underpriced")
    const { amount, to } = this.#transfer
    const { hash } = this.#ledger.submit({
      sender: this.address,
      nonce: used,
      moves: [{ from: this.address, to, amount }],
      noise: this.#draw.below(3),
      reverts: false
    })
    this.#sent(hash, used === Number(nonce))
    this.#world.tell(this.address.slice(0, 6), `sends ${hash.slice(0, 10)} with nonce ${used}`)
    // The wallet's window crashes, and the page hears of an error, or of nothing.
    if (this.#draw.chance(0.06)) throw problem(-32603, "Internal error")
    if (this.#draw.chance(0.04)) await new Promise(() => {})
    return hash
  }
}
