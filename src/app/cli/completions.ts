// `completions bash|zsh|fish`: prints a shell script that completes `quittance`.
import { Console, Effect } from "effect"
import { Argument, Command, Completions } from "effect/cli"

export const completions = (root: () => Command.Command.Any) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("The shell"))
    },
    Effect.fn("completions")(function* ({ shell }) {
      yield* Console.log(Completions.generate("quittance", shell, Completions.fromCommand(root())))
    })
  ).pipe(
    Command.withDescription("Print a completion script for the command `quittance`"),
    Command.withExamples([
      {
        command: `alias quittance='bun run --silent cli'; eval "$(quittance completions bash)"`,
        description: "Put this into the shell's start-up file, in the project's directory"
      }
    ])
  )
