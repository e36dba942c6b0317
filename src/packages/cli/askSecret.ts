// Asks for a secret on the terminal without showing it.
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { CommandRefused } from "./CommandRefused.ts"

/** Discards the echo. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

export const askSecret = async (question: string): Promise<string> => {
  // The terminal's echo is off before the question appears.
  const asking = createInterface({ input: process.stdin, output: nowhere(), terminal: true, historySize: 0 })
  process.stderr.write(question)
  try {
    return await new Promise<string>((resolve, reject) => {
      asking.on("line", (line) => resolve(line.trim()))
      // While nothing is echoed, keys that end a program arrive as text.
      asking.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      asking.on("close", () => reject(new CommandRefused("No key was entered.")))
    })
  } finally {
    asking.close()
    process.stderr.write("\n")
  }
}
