// The command as the person types it: through `npx`, the package's address, otherwise its name.

/** `npx` unpacks an address into a folder of its cache. */
const isThroughNpx = /[\\/]_npx[\\/]/.test(process.argv[1] ?? "")

const baseUrl = process.env["QUITTANCE_URL"] || "https://pay.example.com"

export const program: string = isThroughNpx ? `npx --yes ${baseUrl}/packages/cli.tgz` : "quittance"
