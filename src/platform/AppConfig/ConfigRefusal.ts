// The error with which the service refuses its configuration. It reports all wrong settings at once.
import { Data } from "effect"
import { examples } from "./examples.ts"

/**
 * A setting that prevents the service from starting. `message` is a complete sentence for the operator and never contains
 * the value.
 */
export interface RefusedSetting {
  readonly variable: string
  readonly message: string
}

/** A setting that is missing or malformed. `form`: the values that it may have. */
export const wrongSetting = (variable: string, form: string): RefusedSetting => {
  const example = examples[variable]
  const pasted = example === undefined ? "" : `; for example ${variable}=${example}`
  return { variable, message: `${variable} must be ${form}${pasted}` }
}

/** All settings that prevent the service from starting, one line each. */
export class ConfigRefusal extends Data.TaggedError("ConfigRefusal")<{
  readonly settings: ReadonlyArray<RefusedSetting>
  readonly message: string
}> {
  static of(settings: ReadonlyArray<RefusedSetting>): ConfigRefusal {
    return new ConfigRefusal({ settings, message: settings.map(({ message }) => message).join("\n") })
  }
}
