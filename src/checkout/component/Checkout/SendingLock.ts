// A lock between the tabs of a browser, so that two tabs never request the same payment from a wallet.
import { lockName } from "../attempt.ts"

/** Lets an abandoned prompt release the lock first; otherwise this tab would wait for itself. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0))

/** Lets only one tab at a time request money from its wallet. */
export class SendingLock {
  readonly #name: string
  /** Releases the lock, while this tab holds it. */
  #release: (() => void) | undefined

  constructor(paymentId: string) {
    this.#name = lockName(paymentId)
  }

  /** Runs `work` under the lock, or `otherwise` if another tab holds it. */
  async hold(work: () => Promise<void>, otherwise: () => void): Promise<void> {
    await nextTask()
    await navigator.locks.request(this.#name, { ifAvailable: true }, async (lock) => {
      if (lock === null) return otherwise()
      const released = new Promise<void>((resolve) => {
        this.#release = resolve
      })
      const mine = this.#release
      await Promise.race([work(), released])
      if (this.#release === mine) this.#release = undefined
    })
  }

  release(): void {
    this.#release?.()
  }

  async isHeldElsewhere(): Promise<boolean> {
    const { held } = await navigator.locks.query()
    return held?.some(({ name }) => name === this.#name) === true && this.#release === undefined
  }

  /** Ends when no tab holds it. */
  async untilFree(): Promise<void> {
    await nextTask()
    await navigator.locks.request(this.#name, () => {})
  }
}
