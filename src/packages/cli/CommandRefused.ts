/** The reason why a command failed, in one sentence for the person who typed it. */
export class CommandRefused extends Error {
  override readonly name = "CommandRefused"
  /** 1: the command failed. 2: the command or its arguments are invalid. */
  readonly exitCode: 1 | 2
  /** How to type it. */
  readonly hint: string | undefined
  constructor(message: string, exitCode: 1 | 2 = 1, hint?: string) {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }
}
