/** A command with its arguments and action. */
export interface Command {
  readonly summary: string
  readonly usage: string
  readonly options: Readonly<Record<string, { readonly type: "string" | "boolean" }>>
  readonly required?: ReadonlyArray<string>
  /** The number of required arguments after the command. */
  readonly words?: number
  readonly run: (input: {
    readonly flags: { readonly [name: string]: string | undefined }
    readonly words: ReadonlyArray<string>
    /** Prints text for people on standard error. */
    readonly say: (text: string) => void
    /** Prints the result: the document with --json, otherwise the text. */
    readonly print: (document: unknown, text: string) => void
  }) => Promise<void>
}
