// Requests the password again before a sensitive change. The caller waits until it is entered or dismissed.
type Ask = () => Promise<boolean>

let ask: Ask = () => Promise.resolve(false)

/** True once the session is confirmed; false if the user dismissed the prompt. */
export const confirmedByPassword: Ask = () => ask()

/** Registers the page that shows the prompt. */
export const setPasswordPrompt = (next: Ask): void => {
  ask = next
}
