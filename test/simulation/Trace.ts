// The events, in order, and a hash of them and of the rows and posts that they caused: two runs of a seed are the same
// run if their hashes are equal.

export interface Happening {
  /** Milliseconds since the world began. */
  readonly at: number
  readonly who: string
  readonly what: string
}

export class Trace {
  readonly happenings: Array<Happening> = []
  #one = 0x811c9dc5
  #other = 0x9747b28c

  /** Adds a number that the run depends on. */
  note(value: number): void {
    this.#one = Math.imul(this.#one ^ value, 0x01000193)
    this.#other = Math.imul(((this.#other << 13) | (this.#other >>> 19)) ^ value, 0x85ebca6b)
  }

  tell(at: number, who: string, what: string): void {
    this.happenings.push({ at, who, what })
    this.note(at)
    this.noteText(who)
    this.noteText(what)
  }

  /** Adds a text that the run depends on, or has produced. */
  noteText(text: string): void {
    for (let index = 0; index < text.length; index++) this.note(text.charCodeAt(index))
  }

  /** Only for the reader: not part of the hash. */
  whisper(at: number, who: string, what: string): void {
    this.happenings.push({ at, who, what })
  }

  get hash(): string {
    return [this.#one, this.#other].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
  }
}
