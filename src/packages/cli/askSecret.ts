// Asks on the terminal for what nobody who looks on, and no record of the screen, is to see.
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { CommandRefused } from "./CommandRefused.ts"

/** Its echo goes nowhere. */
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

export const askSecret = async (question: string): Promise<string> => {
  process.stderr.write(question)
  const asking = createInterface({ input: process.stdin, output: nowhere(), terminal: true, historySize: 0 })
  try {
    return await new Promise<string>((resolve, reject) => {
      asking.on("line", (line) => resolve(line.trim()))
      // Keys that end a program come as text while nothing is echoed.
      asking.on("SIGINT", () => process.kill(process.pid, "SIGINT"))
      asking.on("close", () => reject(new CommandRefused("No key was given.")))
    })
  } finally {
    asking.close()
    process.stderr.write("\n")
  }
}
