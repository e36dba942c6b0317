// A real SMTP server on a free port, which stores the mail that it accepts.
import { Effect } from "effect"
import { SMTPServer } from "smtp-server"

interface Taken {
  /** The name by which the client introduced itself. */
  readonly ehlo: string
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/**
 * `verdict` is the server's answer to a recipient: undefined accepts the mail. It answers no recipient before its
 * `answers`.
 */
export const smtpServer = (
  verdict: (recipient: string) => { readonly code: number; readonly text: string } | undefined,
  answers: (recipient: string) => Promise<void> = () => Promise.resolve()
) =>
  Effect.gen(function* () {
    const taken: Array<Taken> = []
    const asked: Array<string> = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      onAuth: ({ username, password }, _session, done) =>
        username === "shop" && password === "secret"
          ? done(null, { user: "shop" })
          : done(new Error("Invalid login")),
      onRcptTo: ({ address }, _session, done) => {
        asked.push(address)
        void answers(address).then(() => {
          const refusal = verdict(address)
          if (refusal === undefined) return done()
          done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }))
        })
      },
      onData: (stream, session, done) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => chunks.push(chunk))
        stream.on("end", () => {
          const { mailFrom, rcptTo } = session.envelope
          taken.push({
            ehlo: session.hostNameAppearsAs,
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            text: Buffer.concat(chunks).toString()
          })
          done()
        })
      }
    })
    server.on("error", () => {})
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))),
      () => Effect.promise(() => new Promise<void>((resolve) => server.close(() => resolve())))
    )
    const address = server.server.address()
    return { taken, asked, port: typeof address === "object" && address !== null ? address.port : 0 }
  })
