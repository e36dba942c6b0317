// A thread beside the event loop that takes over recoveries while many arrive.
import { basename, dirname, join } from "node:path"
import { Worker } from "node:worker_threads"
import { decodeKeys, encodeRequest } from "./messages.ts"
import type { Recoverable } from "./secp256k1.ts"

const directory = dirname(import.meta.path)
/** The program's path in the sources, or in the built service in `dist`. */
const program =
  basename(directory) === "SignatureRecovery"
    ? join(directory, "recoverKeys.ts")
    : join(directory, "chain/SignatureRecovery/recoverKeys.js")

/** Recoveries per message: with more, the thread would answer the first of them late. */
const maxPerMessage = 8

/** Undefined if the thread ended without an answer. */
type Answer = { readonly key: Uint8Array | undefined } | undefined

interface Waiting {
  readonly recoverable: Recoverable
  readonly answer: (answer: Answer) => void
}

export class RecoveryThread {
  readonly #worker: Worker
  #waiting: Array<Waiting> = []
  #requested: ReadonlyArray<Waiting> | undefined
  #ended = false
  /** The number of recoveries requested since the start. */
  taken = 0

  /** `ready` is called once it accepts recoveries; `ended`, once it no longer does, for any reason. */
  constructor(on: { readonly ready: () => void; readonly ended: () => void }, path = program) {
    this.#worker = new Worker(path)
    // The thread does not keep the process alive.
    this.#worker.unref()
    this.#worker.once("message", () => {
      this.#worker.on("message", (keys: Uint8Array) => this.#answered(decodeKeys(keys)))
      on.ready()
    })
    const ended = () => {
      if (this.#ended) return
      this.#ended = true
      const lost = [...(this.#requested ?? []), ...this.#waiting]
      this.#requested = undefined
      this.#waiting = []
      on.ended()
      for (const { answer } of lost) answer(undefined)
    }
    this.#worker.on("error", ended)
    this.#worker.on("exit", ended)
  }

  recover(recoverable: Recoverable, answer: (answer: Answer) => void): void {
    if (this.#ended) {
      answer(undefined)
      return
    }
    this.taken++
    this.#waiting.push({ recoverable, answer })
    // Sends it with the other recoveries of this event-loop turn, then after each answer of the thread.
    if (this.#waiting.length === 1 && this.#requested === undefined) setImmediate(() => this.#ask())
  }

  end(): void {
    void this.#worker.terminate()
  }

  #ask(): void {
    if (this.#ended || this.#requested !== undefined || this.#waiting.length === 0) return
    this.#requested = this.#waiting.splice(0, maxPerMessage)
    const message = encodeRequest(this.#requested.map(({ recoverable }) => recoverable))
    this.#worker.postMessage(message, [message.buffer])
  }

  #answered(keys: ReadonlyArray<Uint8Array | undefined>): void {
    const requested = this.#requested ?? []
    this.#requested = undefined
    this.#ask()
    for (const [index, { answer }] of requested.entries()) answer({ key: keys[index] })
  }
}
