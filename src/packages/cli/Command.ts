/** A command with its arguments and action. */
export interface Command {
  readonly summary: string
  readonly usage: string
  readonly options: Readonly<Record<string, { readonly type: "string" | "boolean" }>>
  readonly required?: ReadonlyArray<string>
  /** The number of required words after it. */
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
