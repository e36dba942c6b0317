// A thread beside the event loop, which takes recoveries from it for as long as many come.
import { basename, dirname, join } from "node:path"
import { Worker } from "node:worker_threads"
import { decodeKeys, encodeAsked } from "./messages.ts"
import type { Recoverable } from "./secp256k1.ts"

const directory = dirname(import.meta.path)
/** Seen from the sources, and from the built service in `dist`. */
const program =
  basename(directory) === "SignatureRecovery"
    ? join(directory, "recoverKeys.ts")
    : join(directory, "chain/SignatureRecovery/recoverKeys.js")

/** Recoveries in one message: a thread that is asked for more answers the first of them late. */
const most = 8

/** Undefined: the thread has ended without an answer. */
type Answer = { readonly key: Uint8Array | undefined } | undefined

interface Waiting {
  readonly recoverable: Recoverable
  readonly answer: (answer: Answer) => void
}

export class RecoveryThread {
  readonly #worker: Worker
  #waiting: Array<Waiting> = []
  #asked: ReadonlyArray<Waiting> | undefined
  #ended = false
  /** Recoveries asked for since the start. */
  taken = 0

  /** `ready` is called once it can take recoveries; `ended`, once it can not, whatever the reason. */
  constructor(on: { readonly ready: () => void; readonly ended: () => void }, path = program) {
    this.#worker = new Worker(path)
    // It alone keeps no process alive.
    this.#worker.unref()
    this.#worker.once("message", () => {
      this.#worker.on("message", (keys: Uint8Array) => this.#answered(decodeKeys(keys)))
      on.ready()
    })
    const ended = () => {
      if (this.#ended) return
      this.#ended = true
      const lost = [...(this.#asked ?? []), ...this.#waiting]
      this.#asked = undefined
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
    // With what else this turn of the event loop brings; then whenever the thread has answered.
    if (this.#waiting.length === 1 && this.#asked === undefined) setImmediate(() => this.#ask())
  }

  end(): void {
    void this.#worker.terminate()
  }

  #ask(): void {
    if (this.#ended || this.#asked !== undefined || this.#waiting.length === 0) return
    this.#asked = this.#waiting.splice(0, most)
    const message = encodeAsked(this.#asked.map(({ recoverable }) => recoverable))
    this.#worker.postMessage(message, [message.buffer])
  }

  #answered(keys: ReadonlyArray<Uint8Array | undefined>): void {
    const asked = this.#asked ?? []
    this.#asked = undefined
    this.#ask()
    for (const [index, { answer }] of asked.entries()) answer({ key: keys[index] })
  }
}
