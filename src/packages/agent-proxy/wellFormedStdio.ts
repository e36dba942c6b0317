// Standard input and output for MCP. A line that is not JSON is answered with the JSON-RPC error -32700 and
// goes no further, because it would end the server's decoder.
import { Effect, Layer, Option, Stdio, Stream } from "effect"

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const parseError = `${JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_700, message: "Parse error: send one JSON-RPC message a line." }
})}\n`

/** The same standard streams, with only well-formed lines on the input. */
export const layer: Layer.Layer<Stdio.Stdio, never, Stdio.Stdio> = Layer.effect(
  Stdio.Stdio,
  Effect.map(Stdio.Stdio, (stdio) =>
    Stdio.make({
      ...stdio,
      stdin: stdio.stdin.pipe(
        Stream.decodeText,
        Stream.splitLines,
        Stream.filter((line) => {
          if (line.trim() === "") return false
          const isJson = Option.isSome(parse(line))
          if (!isJson) process.stdout.write(parseError)
          return isJson
        }),
        Stream.map((line) => new TextEncoder().encode(`${line}\n`))
      )
    })
  )
)
