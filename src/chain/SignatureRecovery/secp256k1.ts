// libsecp256k1 as WASM: takes less than half the time of viem's recovery, with the same verdict on every signature.

/** The input from which a public key is recovered. */
export interface Recoverable {
  /** 64 bytes of r and s. */
  readonly compact: Uint8Array
  readonly parity: 0 | 1
  /** 32 bytes. */
  readonly hash: Uint8Array
}

/** Loaded with the first signature, so a service that checks none does not hold it. */
const load = () => import("tiny-secp256k1")
type Secp256k1 = Awaited<ReturnType<typeof load>>

let loading: Promise<Secp256k1> | undefined
let loaded: Secp256k1 | undefined

export const loadSecp256k1 = async (): Promise<void> => {
  loading ??= load().catch((error) => {
    loading = undefined
    throw error
  })
  loaded = await loading
}

export const isLoaded = (): boolean => loaded !== undefined

/** 65 bytes, uncompressed; undefined for bytes that no key produces. Call it after `loadSecp256k1`. */
export const recoverKey = ({ compact, hash, parity }: Recoverable): Uint8Array | undefined => {
  if (loaded === undefined) throw new Error("libsecp256k1 is not loaded")
  try {
    return loaded.recover(hash, compact, parity) ?? undefined
  } catch (error) {
    // An error about r or s. Any other error is not a verdict on the signature.
    if (error instanceof TypeError && error.message === "Expected Signature") return undefined
    throw error
  }
}
