/** A flag, with the description that --help prints. */
export interface Option {
  readonly type: "string" | "boolean"
  readonly short?: string
  readonly about: string
}

/** A command with its arguments and action. */
export interface Command {
  readonly summary: string
  readonly usage: string
  readonly options: Readonly<Record<string, Option>>
  readonly required?: ReadonlyArray<string>
  /** The required arguments after the command, as a message names them: "an event's id". */
  readonly words?: ReadonlyArray<string>
  readonly run: (input: {
    readonly flags: { readonly [name: string]: string | undefined }
    readonly words: ReadonlyArray<string>
    /** Prints text for people on standard error. */
    readonly say: (text: string) => void
    /** Prints the result: the document with --json, otherwise the text. */
    readonly print: (document: unknown, text: string) => void
  }) => Promise<void>
}
