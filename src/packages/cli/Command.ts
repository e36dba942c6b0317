/** One of the commands: what it takes and what it does. */
export interface Command {
  readonly summary: string
  readonly usage: string
  readonly options: Readonly<Record<string, { readonly type: "string" | "boolean" }>>
  readonly required?: ReadonlyArray<string>
  /** How many words must follow it. */
  readonly words?: number
  readonly run: (input: {
    readonly flags: { readonly [name: string]: string | undefined }
    readonly words: ReadonlyArray<string>
    /** For people, on standard error. */
    readonly say: (text: string) => void
    /** The result: the document with --json, the text otherwise. */
    readonly print: (document: unknown, text: string) => void
  }) => Promise<void>
}
