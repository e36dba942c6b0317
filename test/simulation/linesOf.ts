/** The whole lines of a stream, as they come. */
export const linesOf = async function* (stream: ReadableStream<Uint8Array>) {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}
