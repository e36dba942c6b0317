// The packages as users get them: built, packed, and installed into empty projects.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

export const root = join(import.meta.dir, "../..")
export const tarballs = join(root, "dist/packages")

export const run = (command: ReadonlyArray<string>, cwd: string, env: NodeJS.ProcessEnv = process.env) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env })
  return { exitCode, output: `${stdout.toString()}${stderr.toString()}` }
}

/** Builds all packages, unless the whole suite has; returns the output. */
export const buildPackages = (): string => {
  if (process.env["TEST_PACKAGES"] !== undefined) return ""
  const { exitCode, output } = run([process.execPath, "src/app/packages/build.ts"], root)
  if (exitCode !== 0) throw new Error(output)
  return output
}

export const tarballOf = (name: string): string => {
  const file = readdirSync(tarballs).find((one) => one.startsWith(`quittance-${name}-`))
  if (file === undefined) throw new Error(`no tarball of ${name}`)
  return join(tarballs, file)
}

/** An empty project with only these packages and files. */
export const project = (
  directory: string,
  names: ReadonlyArray<string>,
  files: Readonly<Record<string, string>>,
  more: ReadonlyArray<string> = []
): void => {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "package.json"), '{ "name": "shop", "private": true }\n')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const offline = more.length === 0 ? ["--offline"] : []
  const { exitCode, output } = run(
    ["npm", "install", "--no-audit", "--no-fund", ...offline, ...names.map(tarballOf), ...more],
    directory
  )
  if (exitCode !== 0) throw new Error(output)
}

/** Takes a payment of order 1042 from the mock and marks it paid, with what `imports` provides. */
export const shopWith = (imports: string) => `${imports}
async function shop() {
  const mock = mockQuittance()
  const quittance = new Quittance(mock.options)
  const intentUrl = "https://shop.example.com/orders/1042"
  const { paymentId } = await quittance.paymentIntents.create({ amount: "10.00", intentUrl })
  const delivery = await mock.settle(paymentId)
  const { event, order } = await verifyDelivery(delivery.body, delivery.headers, mock.webhookSecret)
  const payment = await quittance.payments.forEvent(event)
  const refused = await quittance.payments.retrieve("none").then(() => "answered", (error) => error instanceof QuittanceError ? error.code : String(error))
  return [order?.intentUrl === intentUrl, payment?.status, payment?.amount, refused].join(" ")
}
`
export const shopPrints = "true settled 10.00 PAYMENT_NOT_FOUND"

const names = "mockQuittance, Quittance, QuittanceError, verifyDelivery"
export const esmShop = `${shopWith(`import { ${names} } from "@quittance/client"`)}console.log(await shop())\n`
export const cjsShop = `${shopWith(`const { ${names} } = require("@quittance/client")`)}shop().then(console.log)\n`

export const strictConfig = (type: "ESM" | "CJS") =>
  JSON.stringify({
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
      noEmit: true,
      module: "nodenext",
      moduleResolution: "nodenext"
    },
    files: [type === "ESM" ? "typed.mts" : "typed.cts"]
  })

const typedBody = `
export const work = async (secret: string, body: string, headers: Headers): Promise<Payment | null> => {
  const quittance = new Quittance({ key: "sk_test_x", baseUrl: "https://pay.example.com" })
  const { event, order } = await verifyDelivery(body, headers, secret)
  if (event.type === "payment.settled") event.transactionId satisfies string
  order?.intentUrl satisfies string | undefined
  // @ts-expect-error an amount is a string
  quittance.paymentIntents.create({ amount: 10, intentUrl: "https://shop.example.com" })
  try {
    return await quittance.payments.forEvent(event)
  } catch (error) {
    if (error instanceof QuittanceError && error.code === "EVENT_NOT_FOUND") return null
    // @ts-expect-error not a code
    if (error instanceof QuittanceError && error.code === "NO_SUCH_CODE") return null
    throw error
  }
}
`
export const typedShop = (type: "ESM" | "CJS") =>
  type === "ESM"
    ? `import { type Payment, Quittance, QuittanceError, verifyDelivery } from "@quittance/client"\n${typedBody}`
    : `import { type Payment, Quittance, QuittanceError, verifyDelivery } from "@quittance/client"\n${typedBody}`
