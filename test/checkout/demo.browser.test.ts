// The playground link that the demo prints works with one click.
import { Effect, Exit, Scope } from "effect"
import { browserSuite, newPage } from "../support/browser.ts"
import { spawnDemo } from "../support/process.ts"
import { press, untilState } from "./checkoutWorld.ts"

const browserTest = browserSuite()

browserTest("the playground that `bun run demo` prints pays and shows the shop's webhook", async () => {
  const scope = Effect.runSync(Scope.make())
  try {
    const demo = await Effect.runPromise(Scope.provide(spawnDemo, scope))
    const address = () => /http\S+\/playground#pk=pk_test_\S+/.exec(demo.output())?.[0]
    for (let tries = 0; address() === undefined && tries < 2_400; tries++) await Bun.sleep(50)
    const page = await newPage({ width: 360 })
    await page.goto(address() ?? "")
    await press(page, "Test wallet")
    await untilState(page, "needs-funds")
    await press(page, /test USDC/)
    await untilState(page, "review")
    await press(page, "Pay $1.00")
    await untilState(page, "settled")
    await page.getByText("delivered", { exact: true }).waitFor()
    await page.locator("#payload", { hasText: '"amountAtomic": "1000000"' }).waitFor()
    await page.context().close()
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
})
