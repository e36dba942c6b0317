// Reads bodies up to a limit without losing the rest.
export interface Beginning {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** True if the body ended within the limit. */
  readonly isWhole: boolean
  /** The complete body: the bytes read so far, then the rest on demand. */
  readonly all: () => ReadableStream<Uint8Array>
  /** Discards the unread rest. */
  readonly cancel: () => Promise<void>
}

/** Reads the beginning of a body, at most one chunk beyond the limit. */
export const readUpTo = async (
  body: ReadableStream<Uint8Array> | null,
  limit: number
): Promise<Beginning> => {
  const reader = body?.getReader()
  const chunks: Array<Uint8Array> = []
  let length = 0
  let isWhole = reader === undefined
  while (reader !== undefined && !isWhole && length <= limit) {
    const { done, value } = await reader.read()
    if (done) isWhole = true
    else {
      chunks.push(value)
      length += value.length
    }
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return {
    bytes,
    isWhole: isWhole && length <= limit,
    all: () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          if (bytes.length > 0) controller.enqueue(bytes)
          if (isWhole) controller.close()
        },
        pull: async (controller) => {
          if (reader === undefined) return controller.close()
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: (reason) => reader?.cancel(reason)
      }),
    cancel: async () => {
      await reader?.cancel()
    }
  }
}
