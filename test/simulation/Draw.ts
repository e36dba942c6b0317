// Numbers drawn from a seed: sfc32, one stream for each name, so that draws in one part of the world change nothing in
// the others.

/** 128 bits of a text (cyrb128). */
const hashed = (text: string): readonly [number, number, number, number] => {
  let [a, b, c, d] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762]
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    a = b ^ Math.imul(a ^ code, 597_399_067)
    b = c ^ Math.imul(b ^ code, 2_869_860_233)
    c = d ^ Math.imul(c ^ code, 951_274_213)
    d = a ^ Math.imul(d ^ code, 2_716_044_179)
  }
  a = Math.imul(c ^ (a >>> 18), 597_399_067)
  b = Math.imul(d ^ (b >>> 22), 2_869_860_233)
  c = Math.imul(a ^ (c >>> 17), 951_274_213)
  d = Math.imul(b ^ (d >>> 19), 2_716_044_179)
  return [(a ^ b ^ c ^ d) >>> 0, (b ^ a) >>> 0, (c ^ a) >>> 0, (d ^ a) >>> 0]
}

export class Draw {
  readonly #name: string
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(name: string) {
    this.#name = name
    ;[this.#a, this.#b, this.#c, this.#d] = hashed(name)
  }

  /** A stream of its own. */
  of(name: string): Draw {
    return new Draw(`${this.#name}/${name}`)
  }

  /** 32 bits. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** At least 0, below 1. */
  fraction(): number {
    return this.bits() / 4_294_967_296
  }

  below(end: number): number {
    return Math.floor(this.fraction() * end)
  }

  /** From `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<A>(all: readonly [A, ...ReadonlyArray<A>]): A {
    return all[this.below(all.length)] ?? all[0]
  }

  bytes(size: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length: size }, () => this.bits() & 0xff)
  }
}
