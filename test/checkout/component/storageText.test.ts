// The page's offer to a buyer whose browser stores nothing.
import { expect, test } from "bun:test"
import { initial } from "../../../src/checkout/component/Model.ts"
import { failedScreen } from "../../../src/checkout/component/render/endScreens.ts"

const said = (hosted: boolean, code = "STORAGE_BLOCKED") => {
  const { actions, text } = failedScreen({
    model: { ...initial, state: "failed", code, reason: "failedStorage" },
    tools: { hosted, payUrl: "https://pay.example.com/pay" },
    t: (key: string) => key,
    button: (_look: string, key: string) => key,
    link: (key: string) => key,
    explorer: () => undefined
  } as never)
  return [...text, "then", ...(actions ?? []).filter((action) => action !== undefined)].join(" ")
}

test("a shop's page or a frame links to the hosted page", () => {
  for (const code of ["STORAGE_BLOCKED", "INSECURE_CONTEXT"])
    expect(said(false, code)).toBe("failedStorage errorCode then openPayPage close")
})

test("the hosted page never links to itself: it says to allow site data, or to use another browser", () => {
  expect(said(true)).toBe("failedStorage failedStorageHosted errorCode then close")
  expect(said(true, "INSECURE_CONTEXT")).toBe("failedStorage errorCode then close")
})
