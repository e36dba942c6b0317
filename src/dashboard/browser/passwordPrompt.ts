// Asks for the password again before a sensitive change; the caller waits until it was entered or dismissed.
type Ask = () => Promise<boolean>

let ask: Ask = () => Promise.resolve(false)

/** True once the session has been confirmed; false where the person went away. */
export const confirmedByPassword: Ask = () => ask()

/** The page that can ask. */
export const setPasswordPrompt = (next: Ask): void => {
  ask = next
}
